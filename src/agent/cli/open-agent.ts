import { join } from 'node:path'
import { systemClock } from '../../core/clock'
import type { AgentConfig } from '../../wire/agent'
import { requestSigner } from '../../wire/request-signature'
import type { AgentPieces } from '../agent'
import { CertificateReader } from '../certificates/reader'
import { configFile, InvalidConfigFile, readConfigFile, type AgentSettings } from '../config-file'
import { RequirementNotMet } from '../install/requirement'
import { rootFolders } from '../root/folders'
import { Root } from '../sample/root'
import { ServerMachine } from '../server-machine'
import { ownProgram } from '../own-program'
import { readIdentity, readJson, signingKey, type Identity } from '../state/identity'
import { InvalidAnswer, readConfig } from '../transport/answers'
import { possiblePermissions } from '../systemd'
import { HubClient } from '../transport/hub-client'
import { HubClock, uptimeMs } from '../transport/hub-clock'
import type { Flags } from './arguments'

/**
 * What an agent that was enrolled consists of, apart from what depends on the command.
 * @throws InvalidConfigFile, RequirementNotMet
 */
export async function openAgent(
  flags: Flags,
  log: (text: string) => void,
): Promise<{
  settings: AgentSettings
  identity: Identity
  pieces: Omit<AgentPieces, 'spool' | 'keepConfig' | 'onStatus'> & { machine: ServerMachine }
}> {
  const path = flags.config ?? configFile
  const settings = readConfigFile(path)
  const identity = readIdentity(settings.stateFolder, settings.hub)
  if (!identity)
    throw new RequirementNotMet(`This server is not enrolled at ${settings.hub}. Run bailiwick-agent enrol --key KEY.`)
  if (settings.hubKey !== null && identity.hub_key !== settings.hubKey)
    throw new InvalidConfigFile(`${path}: hub_key differs from the key of the hub where this server was enrolled.`)
  const clock = hubClock(settings)
  return {
    settings,
    identity,
    pieces: {
      agentId: identity.agent_id,
      allow: possiblePermissions(settings.allow),
      config: storedConfig(settings.stateFolder),
      client: new HubClient(settings, clock, identity.token, requestSigner(await signingKey(settings.stateFolder))),
      clock,
      timers: systemClock,
      machine: await openMachine(settings, path),
      random: Math.random,
      log,
    },
  }
}

/** The server that the agent measures. */
function openMachine(settings: AgentSettings, path: string): Promise<ServerMachine> {
  const { disks, processes: processesFile, certificates: resultFile, certificatesWanted: requestFile } = rootFolders(settings)
  const program = ownProgram()
  const command = program && ([...program, 'certificates', '--config', path] as const)
  const root = new Root(settings.root)
  const certificates = command && new CertificateReader({ root, command, requestFile, resultFile })
  return ServerMachine.open({
    folder: settings.root,
    smartFile: disks,
    processesFile,
    troublesFile: join(settings.stateFolder, 'troubles.json'),
    mayReadContainers: settings.containers,
    mayReadArguments: settings.processArguments,
    certificates,
  })
}

/** The time of the hub, as far as this server knows it. */
export const hubClock = ({ root }: AgentSettings): HubClock => new HubClock(systemClock.now, () => uptimeMs(root))

/** The settings that the hub sent last. */
function storedConfig(stateFolder: string): AgentConfig {
  try {
    return readConfig(readJson(join(stateFolder, 'config.json')))
  } catch (error) {
    if (!(error instanceof InvalidAnswer)) throw error
    return { interval_seconds: 60, watched_units: [] }
  }
}
