import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { MachineFiles } from '../../../test/support/machine-files'
import { ManualClock } from '../../../test/support/manual-clock'
import { Containers } from './containers'
import { valueOf, type Figures } from './figures'
import { Root } from './root'

const id = (digit: string) => digit.repeat(64)
const [web, job] = [id('a'), id('b')]

/** An engine at the socket of Docker, as its API is documented. */
class Engine implements Disposable {
  readonly machine = new MachineFiles()
  readonly clock = new ManualClock()
  readonly asked: string[] = []
  list: unknown = []
  details: Record<string, unknown> = {}
  answer: ((path: string) => Response | Promise<Response>) | null = null
  readonly problems: string[] = []
  readonly containers: Containers
  private readonly server: Bun.Server<undefined>

  constructor() {
    this.machine.write({ 'run/keep': '', 'proc/stat': 'cpu  1\ncpu0 1\ncpu1 1\n' })
    this.containers = new Containers(new Root(this.machine.folder), this.clock)
    this.server = Bun.serve({
      unix: join(this.machine.folder, 'run/docker.sock'),
      fetch: request => {
        const { pathname, search } = new URL(request.url)
        this.asked.push(pathname + search)
        if (this.answer) return this.answer(pathname)
        if (pathname === '/containers/json') return Response.json(this.list)
        const found = this.details[pathname.split('/')[2]!]
        return found ? Response.json(found) : Response.json({ message: 'No such container' }, { status: 404 })
      },
    })
  }
  read = () => this.containers.read(sentence => this.problems.push(sentence));
  [Symbol.dispose]() {
    void this.server.stop(true)
    this.machine[Symbol.dispose]()
  }
}
const inspected = (pid: number, restarts = 0, network = 'bridge') => ({
  RestartCount: restarts,
  State: { Status: pid ? 'running' : 'exited', Pid: pid, ExitCode: 0 },
  HostConfig: { NetworkMode: network },
})

test('containers are listed with their states, and details are only read when they change', async () => {
  using engine = new Engine()
  engine.list = [
    { Id: job, Names: ['/job'], Image: 'job:1', State: 'exited', Status: 'Exited (137) 2 hours ago' },
    { Id: web, Names: ['/web'], Image: 'nginx:1.27', State: 'running', Status: 'Up 2 hours (unhealthy)' },
    { Id: '../../secrets', Names: [], Image: 5 },
  ]
  engine.details = { [web]: inspected(42, 3) }
  const found = await engine.read()
  expect(found).toEqual([
    { name: 'web', image: 'nginx:1.27', state: 'running', health: 'unhealthy', restarts: 3, exit_code: null },
    { name: 'job', image: 'job:1', state: 'exited', health: null, restarts: null, exit_code: 137 },
  ])
  expect(engine.asked).toEqual(['/containers/json?all=true', `/containers/${web}/json`, `/containers/${job}/json`])
  expect(await engine.read()).toEqual(found)
  expect(engine.asked.slice(3)).toEqual(['/containers/json?all=true'])
  engine.details = { [web]: inspected(43, 4) }
  engine.list = [{ Id: web, Names: ['/web'], Image: 'nginx:1.27', State: 'running', Status: 'Up 5 seconds (health: starting)' }]
  expect(await engine.read()).toEqual([
    { name: 'web', image: 'nginx:1.27', state: 'running', health: 'starting', restarts: 4, exit_code: null },
  ])
  expect(engine.problems).toEqual([])
})

/** Increases between two readings of the figures, per second. */
async function rates(engine: Engine, before: Record<string, string>, after: Record<string, string>) {
  const [first, second] = [before, after].map((files, turn) => {
    engine.machine.write(files)
    return engine.containers.figures(turn * 10).get('web')!
  }) as [Figures, Figures]
  return Object.fromEntries(
    Object.entries(second).flatMap(([name, one]) => (one === undefined ? [] : [[name, valueOf(one, first[name])]])),
  )
}
const dev = (received: number, sent: number) =>
  `Inter-|\n face |\n    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n  eth0: ${received} 1 0 0 0 0 0 0 ${sent} 1 0 0 0 0 0 0\n`
const expected = {
  // Ten seconds of one of two CPUs in ten seconds.
  'container.cpu_percent': expect.closeTo(50),
  'container.memory_bytes': 4000,
  'container.network_received_bytes_per_second': 100,
  'container.network_sent_bytes_per_second': 200,
}

test('what containers use is read from their control groups', async () => {
  using engine = new Engine()
  engine.list = [{ Id: web, Names: ['/web'], Image: 'nginx', State: 'running', Status: 'Up 2 hours' }]
  engine.details = { [web]: inspected(42) }
  await engine.read()
  const unified = `sys/fs/cgroup/machine.slice/libpod-${web}.scope`
  const group = (seconds: number) => ({
    'proc/42/cgroup': `0::/machine.slice/libpod-${web}.scope/container\n`,
    'proc/42/net/dev': dev(seconds * 100, seconds * 200),
    [`${unified}/cpu.stat`]: `usage_usec ${seconds * 1e6}\nuser_usec 1\n`,
    [`${unified}/memory.current`]: '5000\n',
    [`${unified}/memory.stat`]: 'anon 7\ninactive_file 1000\n',
  })
  expect(await rates(engine, group(0), group(10))).toEqual(expected)
  const legacy = (seconds: number) => ({
    ...group(seconds),
    'proc/42/cgroup': `5:memory:/docker/${web}\n4:cpu,cpuacct:/docker/${web}\n1:name=systemd:/docker/${web}\n0::/system.slice/containerd.service\n`,
    [`sys/fs/cgroup/cpu,cpuacct/docker/${web}/cpuacct.usage`]: `${seconds * 1e9}\n`,
    [`sys/fs/cgroup/memory/docker/${web}/memory.usage_in_bytes`]: '5000\n',
    [`sys/fs/cgroup/memory/docker/${web}/memory.stat`]: 'total_inactive_file 1000\n',
  })
  expect(await rates(engine, legacy(0), legacy(10))).toEqual(expected)
})

test('a container in the network of the host has no network figures, and one that just ended has none at all', async () => {
  using engine = new Engine()
  engine.list = [{ Id: web, Names: ['/web'], Image: 'nginx', State: 'running', Status: 'Up 2 hours' }]
  engine.details = { [web]: inspected(42, 0, 'host') }
  await engine.read()
  expect(await rates(engine, { 'proc/42/net/dev': dev(1, 1) }, { 'proc/42/net/dev': dev(2, 2) })).toEqual({})
})

test.each<[answer: () => Response | Promise<Response>, problem: string]>([
  [() => new Response('no', { status: 500 }), 'answers with status 500'],
  [() => new Response('no'), 'sends no valid JSON'],
  [() => Response.json({}), 'sent something other than a list'],
  [() => new Response('x'.repeat(5_000_000)), 'sends too much'],
])('an engine that fails is a problem: %#', async (answer, problem) => {
  using engine = new Engine()
  engine.answer = answer
  expect(await engine.read()).toBeNull()
  expect(engine.problems).toEqual([`Containers are unknown: /run/docker.sock ${problem}.`])
})

test('an engine that never answers is not waited for', async () => {
  using engine = new Engine()
  const reached = Promise.withResolvers<void>()
  engine.answer = () => {
    reached.resolve()
    return new Promise<Response>(() => {})
  }
  const reading = engine.read()
  await reached.promise
  engine.clock.advance(5000)
  expect(await reading).toBeNull()
  expect(engine.problems).toEqual(['Containers are unknown: /run/docker.sock doesn’t answer within 5 seconds.'])
})

test('more than 50 containers, and no engine', async () => {
  using engine = new Engine()
  engine.list = Array.from({ length: 60 }, (_, at) => ({
    Id: at.toString(16).padStart(64, '0'),
    Names: [`/c${at}`],
    Image: 'a',
    State: 'running',
    Status: 'Up',
  }))
  expect(await engine.read()).toHaveLength(50)
  expect(engine.problems).toEqual(['Only 50 of 60 containers are reported.'])
  using machine = new MachineFiles()
  expect(await new Containers(new Root(machine.folder)).read(() => {})).toEqual([])
})
