"""What is kept of a run: one result.json a submission, the gradebook and the manifest."""
