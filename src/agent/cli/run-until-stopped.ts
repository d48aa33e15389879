import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../core/clock'
import { version } from '../../core/version'
import { Agent } from '../agent'
import { configFile, readConfigFile } from '../config-file'
import { CommandLog } from '../commands/command-log'
import { Commands } from '../commands/commands'
import { OrderBox } from '../commands/order-box'
import { SeenCommands } from '../commands/seen-commands'
import { logFolder } from '../install/places'
import type { LiveView } from '../live-view'
import { firewallState } from '../root/firewall'
import { digestFile, rootFolders } from '../root/folders'
import { reportedUpdate } from '../root/update-file'
import { writeStatus } from '../state/status-file'
import { writeFile } from '../state/write-file'
import { stopReason } from '../stop-reason'
import { hasSystemd } from '../systemd'
import { Spool } from '../transport/spool'
import type { Flags, Print } from './arguments'
import { openAgent } from './open-agent'

/** The hub revoked the agent: systemd does not start it again. */
const revokedCode = 78
/** After a signal, the agent exits at most this much later (ms). */
const stopMs = 10_000

/** Measures and reports until a signal. */
export async function runUntilStopped(flags: Flags, { err }: Print): Promise<number> {
  const log = (text: string) => err(`${text}\n`)
  const { settings, identity, pieces } = await openAgent(flags, log)
  const startedAt = systemClock.now()
  mkdirSync(settings.stateFolder, { recursive: true, mode: 0o700 })
  const folders = rootFolders(settings)
  const agent = new Agent({
    ...pieces,
    firewall: () => firewallState(folders),
    update: () => reportedUpdate(folders),
    spool: new Spool(join(settings.stateFolder, 'spool'), once(log)),
    keepConfig: config => writeFile(join(settings.stateFolder, 'config.json'), JSON.stringify(config)),
    onStatus: status => {
      const { hub, agent_id, server_id } = identity
      writeStatus(settings.runtimeFolder, {
        ...status,
        hub,
        agent_id,
        server_id,
        version,
        pid: process.pid,
        started_at: startedAt,
      })
    },
  })
  let live: LiveView | undefined
  const watch = async (seconds: number) => {
    // Loaded when someone looks, which saves memory until then.
    const { LiveView } = await import('../live-view')
    const sampler = () => pieces.machine.live()
    live ??= new LiveView({ ...pieces, timers: systemClock, runId: () => agent.runId, sampler })
    live.watch(seconds)
  }
  const stopLive = () => live?.stop()
  const commands = new Commands({
    ...{ client: pieces.client, clock: pieces.clock, timers: systemClock, random: pieces.random },
    ...{ agentId: identity.agent_id, runId: () => agent.runId, hubKey: identity.hub_key },
    allow: () => readConfigFile(flags.config ?? configFile).allow,
    seen: new SeenCommands(join(settings.stateFolder, 'seen-commands')),
    log: new CommandLog(join(logFolder, 'commands.log'), systemClock.now, once(log)),
    orders: new OrderBox(folders, settings.runtimeFolder, systemClock),
    collect: () => agent.reportNow(true),
    // Loaded when it is needed, which saves memory.
    download: async (file, until) => {
      if (!hasSystemd()) throw new Error('Updates by the hub require systemd. Run the command that installed the agent again.')
      const { download } = await import('../commands/download')
      await download({ address: settings, timers: systemClock, random: pieces.random }, { ...file, to: folders.download, until })
    },
    removeDownload: () => {
      for (const file of [folders.download, digestFile(folders.download)]) rmSync(file, { force: true })
    },
    live: seconds => void watch(seconds),
  })
  const signal = stopSignal()
  // Timers of the clock don’t keep the process alive.
  const alive = setInterval(() => {}, 2 ** 30)
  try {
    log(`Bailiwick agent ${version} reports to ${identity.hub} as ${identity.agent_id}.`)
    agent.start()
    commands.start()
    if ((await Promise.race([signal, agent.revoked.then(() => 'revoked' as const)])) === 'revoked') {
      log('The agent was revoked, so it stops. To use this server again, enroll it with a new key.')
      return revokedCode
    }
    const reason = await stopReason()
    log(`Stopping (${reason}).`)
    const { promise: late, resolve } = Promise.withResolvers<void>()
    systemClock.after(stopMs, resolve)
    await Promise.race([agent.stop(reason), late])
    return 0
  } finally {
    commands.stop()
    stopLive()
    clearInterval(alive)
  }
}

/** Resolves with SIGTERM or SIGINT. A second signal ends the process. */
function stopSignal(): Promise<'signal'> {
  return new Promise(resolve => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.once(signal, () => {
        process.once(signal, () => process.exit(1))
        resolve('signal')
      })
  })
}

/** Logs each text once in a row, because a full disk fails each minute. */
function once(log: (text: string) => void): (text: string) => void {
  let last = ''
  return text => {
    if (text !== last) log(text)
    last = text
  }
}
