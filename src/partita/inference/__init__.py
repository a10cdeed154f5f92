"""Inference that does not know the model: random streams, the one long loop, its checkpoints, and diagnostics."""
