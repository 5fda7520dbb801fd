"""The options that records name: declared in :mod:`mawl.spec.options`."""

from mawl.spec.options import DIRECT_MODES as DIRECT_MODES
from mawl.spec.options import MIB as MIB
from mawl.spec.options import ROLES as ROLES
from mawl.spec.options import VOLUME_ORDERS as VOLUME_ORDERS
from mawl.spec.options import CacheMode as CacheMode
from mawl.spec.options import DirectMode as DirectMode
from mawl.spec.options import OnFailure as OnFailure
from mawl.spec.options import Options as Options
from mawl.spec.options import Role as Role
from mawl.spec.options import StartMode as StartMode
from mawl.spec.options import VolumeOrder as VolumeOrder
