import { readFileSync } from 'node:fs'
import type { Config } from '../../core/config'
import { createTokenAsOperator } from '../../features/tokens/commands'
import { Failure } from '../failure'
import { fetchUnrestricted } from '../unrestricted-fetch'
import type { Figure } from './bench'
import { startServer } from './child-processes'
import { openInProcessApi } from './in-process-api'
import { median } from './median'

const goals = { rulesMs: 2000, powerCycleMs: 4000 }
const pollMs = 20
const limitMs = 60_000

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** A cloud account, and a server there that is changed and restarted. */
interface Account {
  kind: string
  settings: object
  /** Name of the server. */
  server: string
}

/** @throws Failure */
export function accountIn(file: string): Account {
  try {
    const account = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof account?.kind === 'string' && typeof account.settings === 'object' && typeof account.server === 'string')
      return account
  } catch {
    // Reported below.
  }
  throw new Failure(`${file} must be a JSON object with "kind", "settings" and "server".`)
}

/**
 * Measures a hub that changes a real server: firewall rules until the cloud has applied them, and power cycles until the server runs
 * again. Afterward, the server has no firewall of the benchmark.
 * @param name of the account in the hub
 */
export async function measureChanges(
  config: Config,
  folder: string,
  name: string,
  { kind, settings, server }: Account,
  rounds: number,
): Promise<Figure[]> {
  const token = await tokenIn(config)
  const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
  const call = async (method: Method, path: string, body?: object, more: Record<string, string> = {}): Promise<any> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...more }
    const url = `http://127.0.0.1:${hub.port}${path}`
    const response = await fetchUnrestricted(
      { url, method, headers, ...(body && { body: JSON.stringify(body) }) },
      { totalMs: limitMs },
    )
    const text = new TextDecoder().decode(response.body)
    if (response.status >= 400) throw new Failure(`${method} ${path}: ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  try {
    await call('POST', '/v1/cloud-accounts', { kind, name, settings })
    const { id } = await until(`the server ${server}`, async () =>
      (await call('GET', `/v1/servers?q=${encodeURIComponent(server)}`)).data.find((one: any) => one.name === server),
    )
    const rules = await measureRules(call, id, rounds)
    const cycles: number[] = []
    for (let n = 0; n < rounds; n++) {
      const startedAt = performance.now()
      const action = await call('POST', `/v1/servers/${id}/actions`, { action: 'power_cycle', params: {} }, { Prefer: 'wait=60' })
      if (action.status !== 'success') throw new Failure(`The power cycle failed: ${JSON.stringify(action.error)}`)
      cycles.push(performance.now() - startedAt)
    }
    return [
      ...timesOf('firewall rules: PUT until applied', rules, goals.rulesMs),
      ...timesOf('power_cycle, end to end', cycles, goals.powerCycleMs),
    ]
  } finally {
    await hub.stop()
  }
}

type Call = (method: Method, path: string, body?: object) => Promise<any>

async function measureRules(call: Call, serverId: string, rounds: number): Promise<number[]> {
  const { id } = await call('POST', '/v1/firewalls', { name: 'bailiwick-bench', rules: rulesOf(0) })
  const path = `/v1/firewalls/${id}`
  const settled = () => until('the firewall', async () => (await call('GET', path)).action_id === null)
  const allowed = { allow: ['cuts_ssh', 'cuts_caller', 'cuts_monitors', 'opens_everything'], note: 'Benchmark' }
  await call('POST', `${path}/attach`, { server_ids: [serverId], ...allowed })
  await settled()
  const times: number[] = []
  for (let n = 1; n <= rounds; n++) {
    const startedAt = performance.now()
    await call('PUT', `${path}/rules`, { rules: rulesOf(n), confirm_within_seconds: 0 })
    await until('the rules', async () => {
      const [attached] = (await call('GET', path)).attached
      if (attached.state === 'failed') throw new Failure(`The rules could not be applied: ${attached.error}`)
      return attached.state === 'applied' && attached.rules_version === n + 1
    })
    times.push(performance.now() - startedAt)
    await settled()
  }
  await call('POST', `${path}/detach`, { server_ids: [serverId], ...allowed })
  await until('the end of the firewall', async () => (await call('GET', path)).attached.length === 0)
  await settled()
  await call('DELETE', path)
  return times
}

const rulesOf = (n: number) =>
  Array.from({ length: 10 }, (_, at) => ({
    ...{ id: `r${at}`, direction: 'in', protocol: 'tcp', ports: [String(20_000 + n * 10 + at)] },
    sources: ['192.0.2.0/24', '2001:db8::/32'],
  }))

const timesOf = (name: string, ms: readonly number[], goalMs: number): Figure[] => [
  { name: `${name}, p50`, value: median(ms) / 1000, unit: 's' },
  { name: `${name}, slowest`, value: Math.max(...ms) / 1000, unit: 's' },
  { name: `${name}, p50, goal`, value: goalMs / 1000, unit: 's' },
]

async function tokenIn(config: Config): Promise<string> {
  const api = await openInProcessApi(config)
  try {
    const { hub, workspaceId } = api
    return await createTokenAsOperator(hub, { workspaceId, name: 'bench', mode: 'full', permissions: [], expiresAt: null })
  } finally {
    await api.close()
  }
}

async function until<T>(what: string, found: () => Promise<T | null | undefined | false>): Promise<T> {
  for (const end = performance.now() + limitMs; ;) {
    const value = await found()
    if (value) return value
    if (performance.now() > end) throw new Failure(`Timed out while waiting for ${what}.`)
    await Bun.sleep(pollMs)
  }
}
