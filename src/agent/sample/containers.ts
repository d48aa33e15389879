import { request } from 'node:http'
import { systemClock, type Clock } from '../../core/clock'
import type { AgentReport } from '../../wire/agent'
import { numberAfter, perSecond, words, type DeviceFigures, type Figures } from './figures'
import { lineOf, nameOf } from './line'
import type { Root } from './root'

type Container = NonNullable<AgentReport['containers']>[number]

const maxContainers = 50
const timeoutMs = 5000
const maxAnswerBytes = 4 * 1024 * 1024
const sockets = ['run/docker.sock', 'run/podman/podman.sock']

/** What is known about a container, in addition to the list. It is read when the state of the container changes. */
interface Details {
  state: string
  restarts: number | null
  /** Its first process; null while it doesn’t run. */
  pid: number | null
  hasOwnNetwork: boolean
}

/** Containers of Docker or Podman. Their state is read from the socket of the engine, and what they use from files of the kernel. */
export class Containers {
  private details = new Map<string, Details>()
  private running: { id: string; name: string; details: Details }[] = []

  constructor(
    private readonly root: Root,
    private readonly clock: Clock = systemClock,
  ) {}

  /** Reads the list of containers; null if it can’t be read. Without an engine, there are none. */
  async read(problem: (sentence: string) => void): Promise<Container[] | null> {
    const socket = sockets.find(one => this.root.mayExist(one))
    this.running = []
    if (socket === undefined) return []
    try {
      return await this.readFrom(this.root.path(socket), problem)
    } catch (error) {
      problem(`Containers are unknown: /${socket} ${(error as Error).message.slice(0, 100)}.`)
      return null
    }
  }

  private async readFrom(socket: string, problem: (sentence: string) => void): Promise<Container[]> {
    const list = await ask(this.clock, socket, '/containers/json?all=true')
    if (!Array.isArray(list)) throw new Error('sent something other than a list')
    const found = list
      .map(listed)
      .filter(one => one !== null)
      .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1))
    if (found.length > maxContainers) problem(`Only ${maxContainers} of ${found.length} containers are reported.`)
    const details = new Map<string, Details>()
    const reported = found.slice(0, maxContainers)
    for (const { id, state, status } of reported) {
      const known = this.details.get(id)
      // The status of a container that has just started says for how many seconds it runs.
      const isCurrent = known?.state === state && !/second|less than/i.test(status)
      details.set(id, isCurrent ? known : detailsOf(state, await ask(this.clock, socket, `/containers/${id}/json`)))
    }
    this.details = details
    this.running = reported
      .filter(one => one.state === 'running')
      .map(({ id, name }) => ({ id, name, details: details.get(id)! }))
    return reported.map(({ id, name, image, state, health, exitCode }) => ({
      name,
      image,
      state,
      health,
      restarts: details.get(id)!.restarts,
      exit_code: exitCode,
    }))
  }

  /** What the running containers use, by name. */
  figures(seconds: number): DeviceFigures {
    const { root } = this
    const cores = root.text('proc/stat')?.match(/^cpu\d/gm)?.length ?? 1
    return new Map(
      this.running.map(({ id, name, details: { pid, hasOwnNetwork } }) => [
        name,
        pid === null
          ? {}
          : { ...groupFigures(root, id, pid, cores, seconds), ...(hasOwnNetwork && networkFigures(root, pid, seconds)) },
      ]),
    )
  }
}

interface ListedContainer extends Omit<Container, 'restarts' | 'exit_code'> {
  id: string
  status: string
  exitCode: number | null
}

const rank = ({ state }: ListedContainer) => (state === 'running' ? 0 : 1)

/** A container in the answer of the engine; null if it isn’t one. */
function listed(one: unknown): ListedContainer | null {
  const { Id: id, Names: names, Image: image, State: state, Status: status } = Object(one)
  if (typeof id !== 'string' || !/^[0-9a-f]{12,64}$/.test(id)) return null
  const text = String(status ?? '')
  const [, health] = /\((?:health: )?(healthy|unhealthy|starting)\)/.exec(text) ?? []
  const [, exitCode] = /^Exited \((-?\d{1,10})\)/.exec(text) ?? []
  return {
    id,
    name: lineOf(Array.isArray(names) ? String(names[0]).replace(/^\//, '') : null, 200) ?? id.slice(0, 12),
    image: nameOf(image, 300),
    state: nameOf(state, 30),
    health: health ?? null,
    status: text,
    exitCode: exitCode === undefined ? null : Number(exitCode),
  }
}

function detailsOf(state: string, answer: unknown): Details {
  const { RestartCount: restarts, State: process, HostConfig: host } = Object(answer)
  return {
    state,
    restarts: Number.isSafeInteger(restarts) && restarts >= 0 ? restarts : null,
    pid: Number.isSafeInteger(process?.Pid) && process.Pid > 0 ? process.Pid : null,
    hasOwnNetwork: host?.NetworkMode !== 'host',
  }
}

/** CPU and memory from the control group of a container, of version 2 or 1. */
function groupFigures(root: Root, id: string, pid: number, cores: number, seconds: number): Figures {
  const groups = (root.text(`proc/${pid}/cgroup`) ?? '').split('\n').map(line => /^\d+:([^:]*):(\/.*)$/.exec(line))
  const folder = (controller: string) => {
    const [, controllers, path] = groups.find(one => one?.[1]!.split(',').includes(controller)) ?? []
    // The process can be in a group below the container's.
    const end = path?.indexOf('/', path.indexOf(id)) ?? -1
    return path?.includes(id) ? `sys/fs/cgroup/${controllers}${end === -1 ? path : path.slice(0, end)}` : null
  }
  const [unified, cpu, memory] = [folder(''), folder('cpuacct'), folder('memory')]
  const cpuSeconds =
    unified === null
      ? scaled(root.number(`${cpu}/cpuacct.usage`), 1e-9)
      : scaled(numberAfter(root.text(`${unified}/cpu.stat`) ?? '', 'usage_usec '), 1e-6)
  const used = root.number(unified === null ? `${memory}/memory.usage_in_bytes` : `${unified}/memory.current`)
  const cache = numberAfter(
    root.text(`${unified ?? memory}/memory.stat`) ?? '',
    unified === null ? 'total_inactive_file ' : 'inactive_file ',
  )
  return {
    'container.cpu_percent': cpuSeconds === undefined ? undefined : perSecond((100 * cpuSeconds) / cores, seconds),
    // As in docker stats: the kernel frees files that were not used for long when it needs memory.
    'container.memory_bytes': used === null ? undefined : Math.max(0, used - (cache ?? 0)),
  }
}

const scaled = (value: number | null | undefined, factor: number): number | undefined =>
  value == null ? undefined : value * factor

function networkFigures(root: Root, pid: number, seconds: number): Figures {
  const lines = (root.text(`proc/${pid}/net/dev`) ?? '').split('\n').slice(2)
  const counters = lines
    .filter(line => line.includes(':') && !/^\s*lo:/.test(line))
    .map(line => words(line.slice(line.lastIndexOf(':') + 1)).map(Number))
  if (counters.length === 0) return {}
  const sum = (place: number) => counters.reduce((total, one) => total + (one[place] ?? 0), 0)
  return {
    'container.network_received_bytes_per_second': perSecond(sum(0), seconds),
    'container.network_sent_bytes_per_second': perSecond(sum(8), seconds),
  }
}

/** Sends a request to the engine and returns the JSON of its answer. @throws with the end of a sentence about the socket */
function ask(clock: Clock, socketPath: string, path: string): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const sent = request({ socketPath, path, headers: { host: 'localhost' } }, response => {
    const chunks: Buffer[] = []
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if ((bytes += chunk.length) > maxAnswerBytes) sent.destroy(new Error('sends too much'))
    })
    response.on('error', reject)
    response.on('end', () => {
      // The container was removed in the meantime.
      if (response.statusCode === 404) return resolve(null)
      if (response.statusCode !== 200) return reject(new Error(`answers with status ${response.statusCode}`))
      try {
        resolve(JSON.parse(Buffer.concat(chunks).toString('utf8')))
      } catch {
        reject(new Error('sends no valid JSON'))
      }
    })
  })
  sent.on('error', error => reject(new Error(reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? error.message)))
  sent.end()
  const timer = clock.after(timeoutMs, () => sent.destroy(new Error(`doesn’t answer within ${timeoutMs / 1000} seconds`)))
  return promise.finally(() => timer.cancel())
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'can’t be opened by the user of the agent',
  ECONNREFUSED: 'exists, but no engine uses it',
}
