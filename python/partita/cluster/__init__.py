"""One run on several workers: `--jobs N` (processes of this machine) and `--cluster ADDRESS` (actors of Ray).

`leases` decides who explores what, `whole` is the engine of the run that collects what workers commit, `worker` is a
worker's side, `processes` and `actors` are the two ways to reach workers.
"""
