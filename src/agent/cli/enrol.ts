import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { version } from '../../core/version'
import type { AgentEnrolment } from '../../wire/agent'
import { requestSigner } from '../../wire/request-signature'
import { changeConfigFile, configFile, readConfigFile, type AgentSettings } from '../config-file'
import { RequirementNotMet } from '../install/requirement'
import { machineIdHash } from '../machine-id'
import { pinnedBeside, writePinned } from '../root/pinned'
import { readFacts } from '../sample/facts'
import { Root } from '../sample/root'
import { readIdentity, signingKey, writeIdentity, type Identity } from '../state/identity'
import { writeFile } from '../state/write-file'
import { possiblePermissions } from '../systemd'
import { readEnrolmentAnswer } from '../transport/answers'
import { HubClient, HubRequestFailed } from '../transport/hub-client'
import { refusedPermissions } from '../transport/refusals'
import { UsageError, type Flags, type Print } from './arguments'
import { hubClock } from './open-agent'

/** Registers this server at a hub. */
export async function enrol(flags: Flags, print: Print): Promise<number> {
  const settings = settingsOf(flags)
  const known = readIdentity(settings.stateFolder, settings.hub)
  if (known && flags.key === undefined) {
    print.out(`This server is enrolled at ${known.hub} as ${known.agent_id}.\n`)
    return 0
  }
  const identity = await enrolAt(settings, flags, print)
  print.out(`Enrolled at ${identity.hub} as ${identity.agent_id}.\n`)
  return 0
}

/** The settings, after options of the command line were written to the file. @throws UsageError, InvalidConfigFile */
export function settingsOf(flags: Flags): AgentSettings {
  const path = flags.config ?? configFile
  const changes = Object.fromEntries(
    (['hub', 'hub-key', 'pin', 'allow'] as const).flatMap(name =>
      flags[name] === undefined ? [] : [[name.replace('-', '_'), flags[name]]],
    ),
  )
  if (Object.keys(changes).length > 0) return changeConfigFile(path, changes)
  if (!existsSync(path)) throw new UsageError('Missing option: --hub URL, the address of the hub.')
  return readConfigFile(path)
}

/**
 * Sends the enrolment until it is accepted, and stores what the hub returns.
 * @throws UsageError, HubRequestFailed, InvalidAnswer, RequirementNotMet
 */
export async function enrolAt(
  settings: AgentSettings,
  flags: Flags,
  print: Print,
  pause: () => Promise<unknown> = () => Bun.sleep(10_000),
): Promise<Identity> {
  if (flags.key === undefined) throw new UsageError('Missing option: --key KEY, an enrolment key of the hub.')
  const key = await signingKey(settings.stateFolder)
  const facts = readFacts(new Root(settings.root))
  const body: AgentEnrolment = {
    v: 1,
    machine_id_hash: machineIdHash(settings),
    public_key: `ed25519:${(await crypto.subtle.exportKey('jwk', key)).x}`,
    version,
    allow: possiblePermissions(settings.allow),
    facts,
  }
  const client = new HubClient(settings, hubClock(settings), flags.key, requestSigner(key))
  for (let asked = 0; ; asked++) {
    const { status, body: answer } = await sendEnrolment(client, body, print)
    if (status !== 202) return store(settings, flags, answer)
    if (asked === 0) print.out('This server is known already. Waiting until its agent is approved in the dashboard…\n')
    await pause()
  }
}

/** Leaves out permissions that the hub refuses, because an older one doesn’t know them. Reports try them again every hour. */
async function sendEnrolment(
  client: HubClient,
  body: AgentEnrolment,
  print: Print,
): Promise<Awaited<ReturnType<HubClient['send']>>> {
  try {
    return await client.send({ method: 'POST', path: '/v1/ingest/agents/enrol', body, isShort: true })
  } catch (error) {
    if (!(error instanceof HubRequestFailed) || error.kind !== 'rejected') throw error
    const refused = refusedPermissions(error.pointers, body.allow)
    if (refused.length === 0) throw error
    print.err(`${error.message} The server is enrolled without ${refused.join(', ')}.\n`)
    // In the loop of the caller, too: the hub would refuse them each time.
    body.allow = body.allow.filter(one => !refused.includes(one))
    return await sendEnrolment(client, body, print)
  }
}

function store(settings: AgentSettings, flags: Flags, answer: unknown): Identity {
  const { config, ...enrolled } = readEnrolmentAnswer(answer)
  if (settings.hubKey !== null && settings.hubKey !== enrolled.hub_key)
    throw new RequirementNotMet(
      'The hub has another key than --hub-key or hub_key in the settings, so this server was not enrolled.',
    )
  const path = flags.config ?? configFile
  // An attacker on the network can’t send commands from now on.
  if (settings.hubKey === null) changeConfigFile(path, { hub_key: enrolled.hub_key })
  const identity = { hub: settings.hub, ...enrolled }
  pin(path, identity)
  writeFile(join(settings.stateFolder, 'config.json'), JSON.stringify(config))
  // Last: with it, the server counts as enrolled.
  writeIdentity(settings.stateFolder, identity)
  return identity
}

/** Only root decides which hub may send commands to its half of the agent. */
function pin(configPath: string, { agent_id: agentId, hub_key: hubKey }: Identity): void {
  if (process.getuid?.() === 0) writePinned(pinnedBeside(configPath), { agentId, hubKey })
}

/**
 * Pins the hub of an agent that was enrolled without root, or whose file is missing. Not if the key of the hub is unknown: the agent can
 * change its own files.
 */
export function pinIfMissing({ hubKey }: AgentSettings, { config = configFile }: Flags, identity: Identity): void {
  if (hubKey === identity.hub_key && !existsSync(pinnedBeside(config))) pin(config, identity)
}
