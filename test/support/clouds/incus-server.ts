import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { succeeds } from '../suite'
import { busyboxImage } from './busybox-image'

export type Flavor = 'incus' | 'lxd'

/** Programs of Incus and of LXD, which it was forked from. */
const programs = {
  incus: { daemon: '/usr/libexec/incus/incusd', client: 'incus', folder: 'INCUS_DIR', trust: ['config', 'trust', 'add', '-q'] },
  lxd: { daemon: '/usr/bin/lxd', client: 'lxc', folder: 'LXD_DIR', trust: ['config', 'trust', 'add', '-q', '--name'] },
} as const

/** A daemon in namespaces of its own: other processes, networks, and mounts of this machine don’t see it. */
export class IncusServer {
  private constructor(
    readonly flavor: Flavor,
    private readonly folder: string,
    private readonly process: Bun.Subprocess,
    /** At which it can be reached from this machine. */
    readonly address: string,
    /** At which its guests can reach this machine. */
    readonly addressOfThisMachine: string,
  ) {}

  /** Starts a daemon with a storage pool, a bridge, and the images `one` and `two`. @throws Error if it doesn’t start */
  static async start(flavor: Flavor): Promise<IncusServer> {
    const folder = mkdtempSync(join(tmpdir(), `bailiwick-${flavor}-`))
    // Users in containers have no rights in it otherwise.
    chmodSync(folder, 0o711)
    for (const name of ['state', 'cgroups']) mkdirSync(join(folder, name))
    const { daemon, folder: variable } = programs[flavor]
    const process = Bun.spawn(
      [
        'setpriv',
        '--pdeathsig',
        'KILL',
        'unshare',
        '--net',
        '--mount',
        '--pid',
        '--fork',
        '--kill-child',
        '--mount-proc',
        'sh',
        '-ec',
        inNamespaces,
        'sh',
        folder,
        daemon,
      ],
      {
        env: { ...cleanEnv(), [variable]: join(folder, 'state') },
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: Bun.file(join(folder, 'errors')),
      },
    )
    // A network that only this daemon uses: 10.128.0.0/9 in pieces of four addresses.
    const network = Math.floor(Math.random() * 2 ** 21)
    const octets = (host: number) => [10, 128 + (network >> 14), (network >> 6) & 255, ((network & 63) << 2) + host].join('.')
    const server = new IncusServer(flavor, folder, process, octets(2), octets(1))
    try {
      await server.#prepare()
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  get url(): string {
    return `https://${this.address}:${port}`
  }

  /** Prints a trust token, as a person does. */
  async token(name = 'bailiwick'): Promise<string> {
    const output = await this.cli(...programs[this.flavor].trust, name)
    return output.trim().split('\n').at(-1)!
  }

  /** Runs the command line client. @throws Error */
  async cli(...args: string[]): Promise<string> {
    const { client, folder } = programs[this.flavor]
    const home = join(this.folder, 'home')
    const run = Bun.spawn([client, ...args], {
      env: { ...cleanEnv(), HOME: home, [folder]: join(this.folder, 'state') },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [output, errors, code] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
      run.exited,
    ])
    if (code !== 0) throw new Error(`${client} ${args.join(' ')}: ${errors}`)
    return output
  }

  /** Whether a host in front of the bridge gets a page from a guest. */
  async getsPage(address: string, port = 80): Promise<boolean> {
    const get = 'exec 3<>"/dev/tcp/$0/$1"; printf "GET / HTTP/1.0\\r\\n\\r\\n" >&3; grep -q " 200 " <&3'
    const inNetwork = ['nsenter', '-t', this.firstProcess(), '-n', 'timeout', '1', 'bash', '-c', get, address, String(port)]
    const run = Bun.spawn(inNetwork, { env: cleanEnv(), stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
    return (await run.exited) === 0
  }

  /** Calls the API as root, and waits for the operation. @returns the metadata @throws Error */
  async call(method: string, path: string, body?: object | Blob, headers: Record<string, string> = {}): Promise<any> {
    const sent = body === undefined || body instanceof Blob ? body : JSON.stringify(body)
    const { type, metadata, error, operation } = (await this.request(method, path, sent, headers)).body
    if (type === 'error') throw new Error(`${method} ${path}: ${error}`)
    if (type !== 'async') return metadata
    const { status_code: code, err, ...rest } = (await this.call('GET', `${operation}/wait?timeout=60`)) as Record<string, any>
    if (code >= 400) throw new Error(`${method} ${path}: ${err}`)
    return rest.metadata
  }

  /** Sends a request as root. */
  async request(
    method: string,
    path: string,
    body?: string | Blob,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: Record<string, any> }> {
    const unix = join(this.folder, 'state', 'unix.socket')
    const response = await fetch(`http://incus${path}`, { unix, method, headers, ...(body !== undefined && { body }) })
    return { status: response.status, body: (await response.json()) as Record<string, any> }
  }

  /** Follows what happens to instances, such as `instance-created`. */
  lifecycle(): { events(): string[]; stop(): Promise<void> } {
    const { client, folder } = programs[this.flavor]
    const run = Bun.spawn([client, 'monitor', '--type=lifecycle', '--format=json'], {
      env: { ...cleanEnv(), HOME: join(this.folder, 'home'), [folder]: join(this.folder, 'state') },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    let text = ''
    const read = (async () => {
      const decoder = new TextDecoder()
      for await (const part of run.stdout) text += decoder.decode(part, { stream: true })
    })()
    return {
      events: () => [...text.matchAll(/"action":"([a-z-]+)"/g)].map(([, event]) => event!),
      async stop() {
        run.kill()
        await Promise.all([run.exited, read])
      },
    }
  }

  /** Removes everything, also after a failed test. */
  async stop(): Promise<void> {
    await this.#removeInstances().catch(() => {})
    // The first process in a namespace of processes takes all others with it.
    const first = this.firstProcess()
    this.process.kill('SIGKILL')
    await this.process.exited
    for (let attempt = 0; attempt < 200 && existsSync(`/proc/${first}`); attempt++) await Bun.sleep(50)
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Id of the first process in the namespaces. */
  firstProcess(): string {
    const { pid } = this.process
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  }

  async #prepare(): Promise<void> {
    await this.#answers()
    const first = this.firstProcess()
    const link = `bw${this.process.pid}`
    for (const command of [
      `ip link add ${link} type veth peer name outside netns ${first}`,
      `ip address add ${this.addressOfThisMachine}/30 dev ${link}`,
      `ip link set ${link} up`,
      `nsenter -t ${first} -n ip address add ${this.address}/30 dev outside`,
      `nsenter -t ${first} -n ip link set outside up`,
    ])
      if (!(await succeeds(command.split(' '), {}))) throw new Error(`failed: ${command}`)
    const config = { 'core.https_address': `:${port}`, 'images.auto_update_interval': '0' }
    await this.call('PUT', '/1.0', { config })
    await this.call('POST', '/1.0/storage-pools', { name: 'default', driver: 'dir' })
    const bridge = { 'ipv4.address': '10.87.0.1/24', 'ipv4.nat': 'true', 'ipv6.address': 'none' }
    await this.call('POST', '/1.0/networks', { name: 'bwbr0', type: 'bridge', config: bridge })
    await this.call('PUT', '/1.0/profiles/default', {
      config: {},
      description: '',
      devices: {
        root: { path: '/', pool: 'default', type: 'disk' },
        eth0: { name: 'eth0', network: 'bwbr0', type: 'nic' },
      },
    })
    for (const alias of ['one', 'two']) {
      const image = await busyboxImage(join(this.folder, alias), alias)
      const { fingerprint } = await this.call('POST', '/1.0/images', image)
      await this.call('POST', '/1.0/images/aliases', { name: alias, target: fingerprint, description: '' })
    }
  }

  async #answers(): Promise<void> {
    for (let attempt = 0; attempt < 600 && this.process.exitCode === null; attempt++)
      try {
        return await this.call('GET', '/1.0')
      } catch {
        await Bun.sleep(50)
      }
    throw new Error(`${this.flavor} did not start: ${readFileSync(join(this.folder, 'errors'), 'utf8')}`)
  }

  async #removeInstances(): Promise<void> {
    for (const { name } of await this.call('GET', '/1.0/instances?recursion=1')) {
      await this.call('PATCH', `/1.0/instances/${name}`, { config: { 'security.protection.delete': 'false' } })
      await this.call('PUT', `/1.0/instances/${name}/state`, { action: 'stop', force: true, timeout: -1 }).catch(() => {})
      await this.call('DELETE', `/1.0/instances/${name}`)
    }
  }
}

const port = 8443

/**
 * A new sysfs belongs to the new network, but has no control groups. The packages of Incus and LXD both add a range of user ids for root,
 * and Incus can't start containers with two of them. Databases and containers in memory save seconds.
 */
const inNamespaces = `
mount --make-rprivate /
mount --rbind /sys/fs/cgroup "$1/cgroups"
mount -t sysfs sysfs /sys
mount --rbind "$1/cgroups" /sys/fs/cgroup
echo root:1000000:1000000000 > "$1/ids"
for file in /etc/subuid /etc/subgid; do mount --bind "$1/ids" "$file"; done
for name in database images storage-pools; do
  mkdir "$1/state/$name"
  mount -t tmpfs -o mode=711 tmpfs "$1/state/$name"
done
ip link set lo up
echo 1 > /proc/sys/net/ipv4/ip_forward
exec "$2" --group root --logfile="$1/log"
`

const cleanEnv = () => ({ PATH: '/usr/sbin:/usr/bin:/sbin:/bin' })
