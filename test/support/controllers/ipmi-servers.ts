import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../free-port'
import { bmcServer } from '../python-packages'

/** A simulated BMC of another project. */
export interface IpmiServer {
  port: number
  user: string
  password: string
  stop(): Promise<void>
}

/** The BMC simulator of OpenIPMI, and the machine that it controls. */
export interface SimulatedBmc extends IpmiServer {
  /** What the machine printed on its serial port. */
  serial(): string
  /** Whether the process of the machine runs. */
  isRunning(): boolean
}

/** Starts `ipmi_sim` of Debian in front of a QEMU machine that is off. */
export async function startIpmiSim(): Promise<SimulatedBmc> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bmc-'))
  const [port, monitor] = [await freePort(), await freePort()]
  writeFileSync(join(folder, 'disk'), bootSector())
  writeFileSync(join(folder, 'chassis'), chassisScript(folder, monitor))
  chmodSync(join(folder, 'chassis'), 0o755)
  writeFileSync(join(folder, 'sim.emu'), emulated)
  writeFileSync(
    join(folder, 'lan.conf'),
    `name "sim"
set_working_mc 0x20
chassis_control "${folder}/chassis 0x20"
startlan 1
  addr 127.0.0.1 ${port}
  priv_limit admin
  allowed_auths_callback none md2 md5 straight
  allowed_auths_user none md2 md5 straight
  allowed_auths_operator none md2 md5 straight
  allowed_auths_admin none md2 md5 straight
  guid a123456789abcdefa123456789abcdef
endlan
user 1 true "" "changeme" user 10 none md2 md5 straight
user 2 true "bailiwick" "changeme" admin 10 none md2 md5 straight
`,
  )
  const command = ['ipmi_sim', '-n', '-c', join(folder, 'lan.conf'), '-f', join(folder, 'sim.emu'), '-s', join(folder, 'state')]
  const stop = await started(command, folder, port)
  return {
    port,
    user: 'bailiwick',
    password: 'changeme',
    serial: () => (existsSync(join(folder, 'serial')) ? readFileSync(join(folder, 'serial'), 'utf8') : ''),
    isRunning: () => existsSync(join(folder, 'pid')),
    async stop() {
      if (existsSync(join(folder, 'pid'))) process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL')
      await stop()
    },
  }
}

/** Starts `fakebmc` of pyghmi. */
export async function startFakeBmc(): Promise<IpmiServer> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-bmc-'))
  const port = await freePort()
  const stop = await started([bmcServer('fakebmc'), '--port', String(port)], folder, port)
  return { port, user: 'admin', password: 'password', stop }
}

/** Sends a command with ipmitool, and returns its output. */
export async function ipmitool({ port, user, password }: IpmiServer, suite: number, ...command: string[]): Promise<string> {
  const access = ['-H', '127.0.0.1', '-p', String(port), '-U', user, '-P', password, '-L', 'OPERATOR']
  const run = Bun.spawn(['ipmitool', '-I', 'lanplus', '-C', String(suite), ...access, ...command], {
    stdout: 'pipe',
    // It also tries extensions that these BMCs lack.
    stderr: 'ignore',
    timeout: 120_000,
  })
  return (await new Response(run.stdout).text()).trim()
}

/** Starts a process, and waits until it answers IPMI. @returns stops it and removes its folder */
async function started(command: string[], folder: string, port: number): Promise<() => Promise<void>> {
  const run = Bun.spawn(command, { cwd: folder, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
  const stop = async () => {
    run.kill('SIGKILL')
    await run.exited
    rmSync(folder, { recursive: true, force: true })
  }
  for (let attempt = 0; attempt < 200 && run.exitCode === null; attempt++) {
    if (await isAnswering(port)) return stop
    await Bun.sleep(50)
  }
  await stop()
  throw new Error(`${command[0]} did not start`)
}

/** Sends a Get Channel Authentication Capabilities request. */
async function isAnswering(port: number): Promise<boolean> {
  const answered = Promise.withResolvers<boolean>()
  const socket = await Bun.udpSocket({
    connect: { hostname: '127.0.0.1', port },
    socket: { data: () => answered.resolve(true), error: () => answered.resolve(false) },
  })
  socket.send(Buffer.from('0600ff07000000000000000000092018c88100388e04b5', 'hex'))
  const timer = setTimeout(() => answered.resolve(false), 100)
  const answer = await answered.promise
  clearTimeout(timer)
  socket.close()
  return answer
}

const emulated = `mc_setbmc 0x20
mc_add 0x20 0 has-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
sensor_add 0x20 0 1 1 1
sensor_set_value 0x20 0 1 0x60 1
mc_enable 0x20
`

/** Switches the machine, as `ipmi_sim` asks for: `chassis 0x20 set power 1`. */
const chassisScript = (folder: string, monitor: number): string => `#!/bin/bash
cd ${folder}; shift; verb=$1; shift
monitor() { exec 3<>/dev/tcp/127.0.0.1/${monitor}; echo "$1" >&3; sleep 0.1; exec 3>&-; }
start() { qemu-system-x86_64 -accel tcg -m 16 -display none -nodefaults -nic none -drive file=disk,format=raw,if=ide,readonly=off \\
  -serial file:serial -monitor tcp:127.0.0.1:${monitor},server=on,wait=off -pidfile pid -daemonize; }
case $verb in
get) for name in "$@"; do
  case $name in power) [ -e pid ] && echo power:1 || echo power:0;; boot) echo boot:default;; *) echo "$name:0";; esac
done;;
set) while [ $# -gt 0 ]; do
  case $1-$2 in
  power-1) [ -e pid ] || start;;
  power-0) [ -e pid ] && kill -9 "$(cat pid)" && rm -f pid;;
  shutdown-*) monitor system_powerdown;;
  reset-*) monitor system_reset;;
  esac
  shift 2
done;;
esac
exit 0
`

/**
 * A machine that boots within a tenth of a second: it prints a line on its serial port, and switches itself off when its power button is
 * pressed, through the ACPI registers of the chipset (the event status at 0x600, enabled at 0x602, and the sleep control at 0x604).
 */
function bootSector(): Uint8Array {
  const print = [...'booted\n'].flatMap(letter => [0xb0, letter.charCodeAt(0), 0xee])
  const program = [
    // cli; mov dx,0x602; mov ax,0x100; out dx,ax: the button is reported.
    ...[0xfa, 0xba, 0x02, 0x06, 0xb8, 0x00, 0x01, 0xef],
    // mov dx,0x3f8, and for each letter: mov al,letter; out dx,al
    ...[0xba, 0xf8, 0x03],
    ...print,
    // mov dx,0x600; in ax,dx; test ah,1; jz: waits for the button.
    ...[0xba, 0x00, 0x06, 0xed, 0xf6, 0xc4, 0x01, 0x74, 0xf7],
    // mov dx,0x604; mov ax,0x2000; out dx,ax; hlt; jmp: soft off.
    ...[0xba, 0x04, 0x06, 0xb8, 0x00, 0x20, 0xef, 0xf4, 0xeb, 0xfd],
  ]
  const sector = new Uint8Array(512)
  sector.set(program)
  sector.set([0x55, 0xaa], 510)
  return sector
}
