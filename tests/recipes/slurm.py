"""A Slurm of one node on this machine: munge, controller and node, all their files in one folder."""
import os
import subprocess
import time

CONFIG = """
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
AuthInfo=socket={folder}/munge.socket
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
SlurmdPort={node_port}
StateSaveLocation={folder}
SlurmdSpoolDir={folder}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MinJobAge=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=1000
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def said(*command, cwd=None, check=True):
    return subprocess.run([str(word) for word in command], cwd=cwd, check=check, stdout=subprocess.PIPE, text=True).stdout


def start(folder, stack):
    """Starts it; `stack` ends it. Returns its configuration file."""
    folder.mkdir()
    folder.parent.chmod(0o755)  # munged refuses a socket in a folder that others cannot reach
    key = folder / 'munge.key'
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    port = 20000 + 2 * (os.getpid() % 10000)
    config = folder / 'slurm.conf'
    config.write_text(CONFIG.format(folder=folder, port=port, node_port=port + 1))

    def service(name, *command):
        with open(folder / f'{name}.log', 'w') as log:
            process = subprocess.Popen([str(word) for word in command], stdout=log, stderr=log, start_new_session=True)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        return process

    munged = service('munged', 'munged', '--foreground', '--force', f'--key-file={key}', f'--socket={folder}/munge.socket',
                     f'--pid-file={folder}/munge.pid', f'--log-file={folder}/munge.log', f'--seed-file={folder}/munge.seed')
    while not (folder / 'munge.socket').exists():
        if munged.poll() is not None:
            raise AssertionError(f'munged does not start: {(folder / "munged.log").read_text()}')
        time.sleep(0.05)
    service('slurmctld', 'slurmctld', '-D', '-f', config)
    service('slurmd', 'slurmd', '-D', '-N', 'localhost', '-f', config)
    return config
