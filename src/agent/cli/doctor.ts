import { statSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../core/clock'
import { configFile, readConfigFile, type AgentSettings } from '../config-file'
import { readIdentity } from '../state/identity'
import { readStatus } from '../state/status-file'
import { fetchHub, HubUnreachable } from '../transport/hub-fetch'
import type { Flags, Print } from './arguments'

/** The result of a check: a sentence, and whether something is wrong. */
type Finding = [isGood: boolean, text: string]

/** Checks settings, files, the connection to the hub, and the clock. The exit code is 1 if something is wrong. */
export async function doctor(flags: Flags, { out }: Print): Promise<number> {
  const path = flags.config ?? configFile
  const settings = readConfigFile(path)
  const findings: Finding[] = [
    [true, `${path} is valid. The hub is ${settings.hub}.`],
    [true, `The hub may ask for: ${settings.allow.join(', ')}.`],
    ...keyFindings(settings),
    ...(await hubFindings(settings)),
    running(settings),
  ]
  for (const [isGood, text] of findings) out(`${isGood ? 'ok     ' : 'failed '}${text}\n`)
  return findings.every(([isGood]) => isGood) ? 0 : 1
}

function keyFindings({ stateFolder, hub }: AgentSettings): Finding[] {
  try {
    const identity = readIdentity(stateFolder, hub)
    if (!identity) return [[false, `This server is not enrolled at ${hub}. Run bailiwick-agent enrol --key KEY.`]]
    const open = ['key', 'identity.json'].map(name => join(stateFolder, name)).filter(path => (statSync(path).mode & 0o077) !== 0)
    const enrolled: Finding = [true, `This server is enrolled as ${identity.agent_id}.`]
    return [enrolled, ...open.map((path): Finding => [false, `Other users can read ${path}. Run chmod 600 ${path}.`])]
  } catch (error) {
    return [[false, `${stateFolder} can’t be read: ${(error as Error).message}. Run this as root.`]]
  }
}

async function hubFindings({ hub, pin }: AgentSettings): Promise<Finding[]> {
  try {
    const sent = systemClock.now()
    const asked = { method: 'GET', path: '/healthz', headers: {}, body: null, waitMs: 10_000, maxBodyBytes: 10_000 } as const
    const { status, headers } = await fetchHub({ hub, pin }, asked)
    if (status !== 200) return [[false, `${hub} responded with status ${status}.`]]
    const certificate =
      pin !== null ? ', and its certificate is the pinned one' : hub.startsWith('https:') ? ', and its certificate is valid' : ''
    const time = Date.parse(headers.get('date') ?? '')
    const offset = Math.round((time - (sent + systemClock.now()) / 2) / 1000)
    const clock: Finding[] = Number.isNaN(offset)
      ? []
      : [[Math.abs(offset) < 60, `The clock differs from the hub’s by ${Math.abs(offset)} s.`]]
    return [[true, `The hub responds${certificate}.`], ...clock]
  } catch (error) {
    if (!(error instanceof HubUnreachable)) throw error
    return [[false, `The hub can’t be reached: ${error.message}`]]
  }
}

function running({ runtimeFolder }: AgentSettings): Finding {
  const status = readStatus(runtimeFolder)
  if (!status) return [false, 'The agent is not running.']
  return [status.error === null, status.error ?? `The agent is running. ${status.spooled} minutes wait to be sent.`]
}
