"""A program of your own as a Python class. mawl starts, measures and reports it like its own programs."""


class Count:
    name = "count"  # what reports call it
    program_class = "compute"  # or "memory", "io"
    inputs = ("customers",)  # mawl's input tables that it reads; may be empty

    def run(self, context):
        with context.steps.step("count") as step:
            table = context.table("customers").directory
            step.rows_read = sum(batch.num_rows for batch in context.read(table))
        return {"rows": step.rows_read}
