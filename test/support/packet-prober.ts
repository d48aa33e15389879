import { join } from 'node:path'
import { probes, senders, type Probe } from './random-rules'
import { outputLines } from './output-lines'

/** The packets that are answered if they pass. */
export const sentProbes = probes.filter(one => one.protocol !== 'esp' && one.protocol !== 'gre')

/** Addresses of the router in front of the prober. */
export const gateways = { 4: '169.254.87.1', 6: 'fd87::1' }
const own = { 4: '169.254.87.2', 6: 'fd87::2' }
const waits = { first: 0.05, again: 1 }

/** Sends packets from several addresses, in a network namespace of its own behind another one, which must forward packets. */
export class PacketProber {
  readonly #lines: AsyncIterator<string>
  private constructor(private readonly run: Bun.Subprocess<'pipe', 'pipe', 'inherit'>) {
    this.#lines = outputLines(run.stdout)
  }

  /** @param behind a process in the network namespace that is a router for the prober */
  static async start(behind: string): Promise<PacketProber> {
    const script = join(import.meta.dir, 'packet_prober.py')
    const run = Bun.spawn(['setpriv', '--pdeathsig', 'KILL', 'unshare', '--net', 'python3', script], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'inherit',
    })
    const prober = new PacketProber(run)
    // Once it answers, it is in its namespace.
    await prober.#ask([], 0)
    const isV6 = (address: string) => address.includes(':')
    const inside = (target: string | number, ...commands: string[]) => commands.map(one => `nsenter -t ${target} -n ${one}`)
    for (const command of [
      ...inside(
        behind,
        `ip link add probes type veth peer name eth0 netns ${run.pid}`,
        `ip address add ${gateways[4]}/30 dev probes`,
        `ip address add ${gateways[6]}/64 dev probes nodad`,
        'ip link set probes up',
      ),
      ...inside(
        run.pid,
        ...['ip link set lo up', `ip address add ${own[4]}/30 dev eth0`, `ip address add ${own[6]}/64 dev eth0 nodad`],
        ...senders.map(one => `ip address add ${one}/${isV6(one) ? '128 dev eth0 nodad' : '32 dev eth0'}`),
        ...['ip link set eth0 up', `ip route add default via ${gateways[4]}`, `ip route add default via ${gateways[6]}`],
      ),
      ...inside(behind, ...senders.map(one => `ip route add ${one} via ${own[isV6(one) ? 6 : 4]}`)),
    ]) {
      const { success, stderr } = Bun.spawnSync(command.split(' '))
      if (!success) throw new Error(`${command}: ${stderr}`)
    }
    return prober
  }

  /**
   * Which packets are answered.
   * @param targets addresses that IPv4 and IPv6 packets are sent to
   * @param expects packets that are not answered although they should be are sent again, with more time
   */
  async answered(
    packets: readonly Probe[],
    targets: { 4: string; 6: string },
    expects: (packet: Probe) => boolean,
  ): Promise<boolean[]> {
    const asked = packets.map(({ protocol, address, port }) => [
      protocol,
      address,
      targets[address.includes(':') ? 6 : 4],
      port ?? 0,
    ])
    const found = await this.#ask(asked, waits.first)
    const late = packets.flatMap((packet, at) => (!found[at] && expects(packet) ? [at] : []))
    if (late.length > 0) {
      const again = await this.#ask(
        late.map(at => asked[at]!),
        waits.again,
      )
      for (const [n, at] of late.entries()) found[at] = again[n]!
    }
    return found
  }

  async stop(): Promise<void> {
    this.run.kill()
    await this.run.exited
  }

  async #ask(packets: readonly unknown[], wait: number): Promise<boolean[]> {
    this.run.stdin.write(`${JSON.stringify({ packets, wait })}\n`)
    this.run.stdin.flush()
    const { value } = await this.#lines.next()
    if (value === undefined) throw new Error('The prober has ended.')
    return JSON.parse(value)
  }
}
