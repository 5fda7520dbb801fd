"""What makes and checks the project itself: environment, constraints, reference pages, documents."""
