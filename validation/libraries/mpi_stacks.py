"""How the MPI libraries are started on the hosts of a world: their launchers reach a host by enter_host.sh, in place of ssh."""
import pathlib
import re
import subprocess


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def compiled(build, library, here, mpicc):
    folder = pathlib.Path(build).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    worker, poll = folder / f"worker_{library}", folder / "patient_poll.so"
    subprocess.run([mpicc, "-O2", "-o", str(worker), str(here / "worker_mpi.c")], check=True)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(poll), str(here / "patient_poll.c"), "-ldl"], check=True)
    return str(worker), str(poll)


def open_mpi(mpi, here, worker, poll, extra):
    version = re.search(r"(\d+\.\d+\.\d+)", output(f"{mpi}/mpirun", "--version")).group(1)
    agent = str(here / "enter_host.sh")
    launch = (["--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_include", "wan", "--mca", "orte_tmpdir_base", "/run"]
              if version.startswith("4") else
              ["--prtemca", "plm_ssh_agent", agent, "--prtemca", "prte_if_include", "wan"])
    command = [f"{mpi}/mpirun", "--host", "{open_mpi_hosts}", "--map-by", "node", "--bind-to", "none", *launch,
               "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "wan",
               "--mca", "mpi_yield_when_idle", "1", *extra, "-x", f"LD_PRELOAD={poll}"]
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return version, command, environment


def mpich(mpi, here, worker, poll, extra):
    version = re.search(r"Version:\s*(\S+)", output(f"{mpi}/mpichversion")).group(1)
    command = [f"{mpi}/mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", str(here / "enter_host.sh"), "-iface", "wan",
               "-hosts", "{mpich_hosts}", "-ppn", "1", "-n", "{ranks}", "-genv", "LD_PRELOAD", poll,
               "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "wan", *extra]
    return version, command, {}


def stack(library, mpi, here, build, extra):
    worker, poll = compiled(build, f"{library}_{re.sub(r'[^a-z0-9]+', '_', str(mpi))}", here, f"{mpi}/mpicc")
    version, command, environment = (open_mpi if library == "open-mpi" else mpich)(mpi, here, worker, poll, extra)
    return (["sh", str(here / "enter_host.sh"), "10.9.0.1", *command, worker, "{shared}", "{operation}", "{bytes}", "{calls}"],
            environment, version)
