"""A real Kafka broker on loopback: KRaft, one node, its jars from Maven; where that cannot be reached, the reason."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_POM = """
<project>
  <modelVersion>4.0.0</modelVersion><groupId>cedr</groupId><artifactId>broker</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>3.9.2</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
"""
_FOLDER = Path(tempfile.gettempdir()) / f"cedr-kafka-3.9.2-{os.getuid()}"
_PATIENCE = 60


def jars() -> Path | str:
    """The folder of the broker's jars; or why there is none."""
    if (_FOLDER / "ready").exists():
        return _FOLDER
    maven = shutil.which("mvn")
    if maven is None or shutil.which("java") is None:
        return "no Maven or no Java here: a broker cannot be started"
    _FOLDER.mkdir(exist_ok=True)
    (_FOLDER / "pom.xml").write_text(_POM)
    command = [maven, "-q", "-B", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=jars"]
    try:
        done = subprocess.run(command, cwd=_FOLDER, capture_output=True, check=False, timeout=240)
    except subprocess.TimeoutExpired:
        return "Maven cannot be reached: a broker cannot be started"
    if done.returncode:
        return "Maven cannot be reached: a broker cannot be started"
    (_FOLDER / "ready").touch()
    return _FOLDER


class Broker:
    """One node, which can be stopped and started again with what it holds."""

    def __init__(self, folder: Path, jars: Path) -> None:
        self._folder, self._jars = folder, jars
        ports = []
        for _ in range(2):
            with socket.socket() as found:
                found.bind(("127.0.0.1", 0))
                ports.append(found.getsockname()[1])
        self.servers = f"127.0.0.1:{ports[0]}"
        self._process: subprocess.Popen[bytes] | None = None
        (folder / "server.properties").write_text(
            f"""
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{ports[1]}
listeners=PLAINTEXT://127.0.0.1:{ports[0]},CONTROLLER://127.0.0.1:{ports[1]}
controller.listener.names=CONTROLLER
log.dirs={folder}/log
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.cleaner.dedupe.buffer.size=4194304
"""
        )
        cluster = self._java("kafka.tools.StorageTool", "random-uuid").stdout.decode().split()[-1]
        self._java("kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(folder / "server.properties"))
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [*self._command(), "kafka.Kafka", str(self._folder / "server.properties")]
        with (self._folder / "out").open("ab") as out:
            self._process = subprocess.Popen(command, stdout=out, stderr=out, cwd=self._folder)
        host, _, port = self.servers.partition(":")
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > until or self._process.poll() is not None:
                    raise
                time.sleep(0.1)

    def stop(self) -> None:
        """Stop it; what it holds stays."""
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _java(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        whole = [*self._command(), *arguments]
        return subprocess.run(whole, capture_output=True, check=True, cwd=self._folder, timeout=_PATIENCE)

    def _command(self) -> Sequence[str]:
        return ["java", "-Xmx192m", "-XX:+UseSerialGC", "-cp", f"{self._jars}/jars/*"]


@contextmanager
def broker(jars: Path) -> Iterator[Broker]:
    """A broker, which ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="cedr-broker-"))
    running = Broker(folder, jars)
    try:
        yield running
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)
