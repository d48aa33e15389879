import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { systemClock } from '../../core/clock'
import { fingerprintOf } from '../../core/net/pinned-fetch'
import type { AgentConfig, CommandsAnswer, EnrolmentAnswer, ReportAnswer } from '../../wire/agent'
import { publicKeyText } from '../../wire/signed'
import { createAuthority } from '../certificate-authority'
import { fetchUnrestricted } from '../unrestricted-fetch'
import type { Bench, Figure } from './bench'
import { cpuSecondsOf, residentBytes, temporaryInstallation } from './child-processes'

const goals = { https: 42, http: 37, own: 6, cpu: 0.1, firstReport: 1 }
const mebibyte = 1024 * 1024
const dayMs = 86_400_000
const pollMs = 50
const nobody = 65_534
const sampleMs = 1000
const startSeconds = 60
/** As often as the agent reports. */
const scrapeMs = 60_000
const config: AgentConfig = { interval_seconds: 60, watched_units: [] }
const ways = ['http', 'https', 'pinned'] as const
type Way = (typeof ways)[number]
const nodeExporter = 'node-exporter'

/** `bailiwick bench agent-weight`: what the agent needs on its server. */
export const agentWeightBench: Bench = {
  name: 'agent-weight',
  summary: 'Measure memory and CPU time of the agent on a server',
  options: [
    {
      name: 'warm-up',
      description: 'Seconds until CPU time is measured, because the agent counts package updates at first',
      default: 60,
    },
    { name: 'seconds', description: 'Seconds to measure CPU time', default: 600 },
  ],
  file: {
    name: 'agent',
    description: 'Program to measure. By default bailiwick-agent in the folder of this program, or the agent in this program',
    isOptional: true,
  },
  parts: [...ways, nodeExporter],
  async run({ 'warm-up': warmUp, seconds }, parts, file) {
    const times = { warmUp: warmUp!, seconds: seconds! }
    const command = file === undefined ? ownAgent() : [file]
    dropCache(command[0]!)
    const measured = ways.filter(way => parts.includes(way)).map(way => measureAgent(command, way, times))
    const exporter = Bun.which('node_exporter') ?? Bun.which('prometheus-node-exporter')
    if (parts.includes(nodeExporter) && exporter) measured.push(measureNodeExporter(exporter, times))
    return {
      figures: [
        ...(await Promise.all(measured)).flat(),
        ...goal('RSS, https and pinned', goals.https, 'MiB'),
        ...goal('RSS, http', goals.http, 'MiB'),
        ...goal('own memory', goals.own, 'MiB'),
        ...goal('CPU', goals.cpu, '% of a core'),
      ],
      notes: [
        'RSS is the peak of the resident memory. Own memory is the part of it that is not from files, which the kernel can drop. CPU time includes children.',
        ...(exporter ? [] : ['node_exporter is not installed.']),
      ],
    }
  },
}

const goal = (name: string, value: number, unit: string): Figure[] => [{ name: `goal: ${name}`, value, unit }]

function ownAgent(): string[] {
  const beside = join(dirname(process.execPath), 'bailiwick-agent')
  if (!Bun.isStandaloneExecutable) return [process.execPath, Bun.main, 'agent']
  return existsSync(beside) ? [beside] : [process.execPath, 'agent']
}

async function measureAgent(command: readonly string[], way: Way, times: Times): Promise<Figure[]> {
  const { folder, remove } = temporaryInstallation()
  const now = systemClock.now()
  const authority = createAuthority('bench', now)
  const tls = way === 'http' ? null : authority.issue(['localhost', '127.0.0.1'], now - dayMs, now + dayMs)
  const hub = startHub(tls)
  const [file, ca] = [join(folder, 'agent.conf'), join(folder, 'ca.pem')]
  mkdirSync(join(folder, 'state'), { mode: 0o700 })
  const settings = [`hub = ${hub.url}`, `state_folder = ${join(folder, 'state')}`, `runtime_folder = ${join(folder, 'run')}`]
  if (way === 'pinned') settings.push(`pin = sha256:${fingerprintOf({ raw: derOf(tls!.cert) })}`)
  writeFileSync(file, `${settings.join('\n')}\n`)
  writeFileSync(ca, authority.cert)
  const program = asUser(command, folder)
  const environment = way === 'https' ? ['env', `NODE_EXTRA_CA_CERTS=${ca}`] : []
  const start = (args: readonly string[]) =>
    Bun.spawn([...environment, ...program, ...args, '--config', file], {
      ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' },
    })
  try {
    if ((await start(['enrol', '--key', `bw_enrol_${'0'.repeat(36)}`]).exited) !== 0)
      throw new Error('The agent was not enrolled.')
    const startedAt = performance.now()
    const agent = start(['run'])
    try {
      while (hub.reportedAt() === null) {
        if (agent.exitCode !== null || performance.now() - startedAt > startSeconds * 1000)
          throw new Error('The agent did not report.')
        await Bun.sleep(pollMs)
      }
      const firstReport = (hub.reportedAt()! - startedAt) / 1000
      return [
        ...(await weightOf(way, agent.pid, times)),
        { name: `${way}: start to first report`, value: firstReport, unit: 's' },
      ]
    } finally {
      agent.kill('SIGKILL')
      await agent.exited
    }
  } finally {
    await hub.stop()
    remove()
  }
}

/**
 * Runs a program without privileges, as on a server: root would see the files of all processes. As the current user if that isn't root, or
 * others can't read the program.
 */
function asUser(command: readonly string[], folder: string): string[] {
  const change = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups', '--']
  if (process.getuid?.() !== 0 || Bun.spawnSync([...change, 'test', '-r', command[0]!]).exitCode !== 0) return [...command]
  Bun.spawnSync(['chown', '-R', `${nobody}:${nobody}`, folder])
  return [...change, ...command]
}

/**
 * Lets the kernel read a program from disk again. Of a program that was just written, it maps larger parts, which counts as 5 MiB more
 * of resident memory. Has no effect while the program runs.
 */
function dropCache(file: string): void {
  Bun.spawnSync(['sync', file])
  Bun.spawnSync(['dd', `if=${file}`, 'iflag=nocache', 'count=0'], { stderr: 'ignore' })
}

async function measureNodeExporter(program: string, times: Times): Promise<Figure[]> {
  const port = 20_000 + (process.pid % 10_000)
  const exporter = Bun.spawn([program, `--web.listen-address=127.0.0.1:${port}`], { stdout: 'ignore', stderr: 'ignore' })
  const request = { method: 'GET', url: `http://127.0.0.1:${port}/metrics` } as const
  const scrape = () => void fetchUnrestricted(request, { maxBodyBytes: 10_000_000 }).catch(() => {})
  const scraping = setInterval(scrape, scrapeMs)
  try {
    await Bun.sleep(sampleMs)
    scrape()
    return await weightOf(nodeExporter, exporter.pid, times)
  } finally {
    clearInterval(scraping)
    exporter.kill('SIGKILL')
    await exporter.exited
  }
}

interface Times {
  /** In seconds. */
  warmUp: number
  seconds: number
}

async function weightOf(name: string, pid: number, { warmUp, seconds }: Times): Promise<Figure[]> {
  let [rss, own] = [0, 0]
  const watch = async (duration: number) => {
    for (const startedAt = performance.now(); performance.now() - startedAt < duration * 1000; await Bun.sleep(sampleMs)) {
      rss = Math.max(rss, residentBytes(pid))
      own = Math.max(own, residentBytes(pid, 'RssAnon'))
    }
  }
  await watch(warmUp)
  const [startedAt, cpu] = [performance.now(), cpuSecondsOf(pid, true)]
  await watch(seconds)
  const share = ((cpuSecondsOf(pid, true) - cpu) * 1000) / (performance.now() - startedAt)
  return [
    { name: `${name}: RSS`, value: rss / mebibyte, unit: 'MiB' },
    { name: `${name}: own memory`, value: own / mebibyte, unit: 'MiB' },
    { name: `${name}: CPU`, value: share * 100, unit: '% of a core' },
  ]
}

/** As much of a hub as an agent needs: it enrolls everyone, acknowledges reports, and has no commands. */
function startHub(tls: { cert: string; key: string } | null) {
  const key = generateKeyPairSync('ed25519').publicKey
  let reportedAt: number | null = null
  const respond = async (request: Request): Promise<object> => {
    const { pathname } = new URL(request.url)
    const time = systemClock.now()
    const bytes = await request.bytes()
    if (pathname.endsWith('/enrol'))
      return {
        ...{ agent_id: 'agent_bench', server_id: 'srv_bench', token: `bw_agent_${'0'.repeat(36)}` },
        ...{ hub_key: publicKeyText(key), config },
      } satisfies EnrolmentAnswer
    if (pathname.endsWith('/commands')) {
      await Bun.sleep(Number(/wait=(\d+)/.exec(request.headers.get('prefer') ?? '')?.[1] ?? 0) * 1000)
      return { time: systemClock.now(), commands: [], live_seconds: 0 } satisfies CommandsAnswer
    }
    const { seq } = JSON.parse(new TextDecoder().decode(Bun.gunzipSync(bytes))) as { seq: number }
    reportedAt ??= performance.now()
    return { acknowledged: seq, time, config, send_all: false } satisfies ReportAnswer
  }
  const server = Bun.serve({
    ...{ hostname: '127.0.0.1', port: 0, idleTimeout: 60 },
    ...(tls && { tls }),
    fetch: async request => Response.json(await respond(request), { status: request.url.endsWith('/enrol') ? 201 : 200 }),
  })
  return { url: server.url.origin, reportedAt: () => reportedAt, stop: () => server.stop(true) }
}

const derOf = (pem: string): Uint8Array => Buffer.from(/-----BEGIN CERTIFICATE-----([^-]*)-----END/.exec(pem)![1]!, 'base64')
