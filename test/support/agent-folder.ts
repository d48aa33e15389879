import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommandLog } from '../../src/agent/commands/command-log'
import { readConfigFile } from '../../src/agent/config-file'
import { rootFolders, type RootFolders } from '../../src/agent/root/folders'
import { obeyOrders } from '../../src/agent/root/obey-orders'
import { writePinned } from '../../src/agent/root/pinned'
import type { System } from '../../src/agent/root/system'
import { systemClock, type Clock } from '../../src/core/clock'
import { newId } from '../../src/core/ids'
import {
  signCommand,
  type AgentCommand,
  type CommandName,
  type CommandParams,
  type SignedCommand,
} from '../../src/wire/agent-command'
import { publicKeyText } from '../../src/wire/signed'

/** The files of an agent and of its root half, in a temporary folder. */
export class AgentFolder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'bailiwick-agent-'))
  readonly hubKey = generateKeyPairSync('ed25519').privateKey
  readonly agentId = newId('agent')
  readonly folders: RootFolders
  readonly configFile = join(this.path, 'etc', 'agent.conf')
  readonly pinnedFile = join(this.path, 'etc', 'hub.json')
  readonly logs = {
    agent: join(this.path, 'agent.log'),
    root: join(this.path, 'root.log'),
    refused: join(this.path, 'refused.log'),
  }

  /** @param now time of the server (ms UTC) */
  constructor(readonly now: () => number) {
    this.folders = {
      ...rootFolders({ runtimeFolder: join(this.path, 'run'), stateFolder: join(this.path, 'state') }),
      programs: { folder: join(this.path, 'versions'), link: join(this.path, 'bailiwick-agent') },
    }
    for (const folder of ['run', 'state', 'etc']) mkdirSync(join(this.path, folder), { mode: 0o755 })
    mkdirSync(this.folders.orders)
    writePinned(this.pinnedFile, { agentId: this.agentId, hubKey: publicKeyText(this.hubKey) })
    this.allow('reboot', 'restart:nginx.service', 'firewall')
  }

  allow(...permissions: string[]): void {
    writeFileSync(this.configFile, `hub = https://hub.example.com\nallow = ${permissions.join(' ')}\n`)
  }

  settings = () => readConfigFile(this.configFile)

  log(name: keyof AgentFolder['logs']): CommandLog {
    return new CommandLog(this.logs[name], this.now, text => {
      throw new Error(text)
    })
  }

  /** The lines of a log. */
  lines(name: keyof AgentFolder['logs']): string[] {
    return existsSync(this.logs[name]) ? readFileSync(this.logs[name], 'utf8').trimEnd().split('\n') : []
  }

  /** A command of the hub to this agent. */
  command<Name extends CommandName>(name: Name, params: CommandParams[Name], more: Partial<AgentCommand> = {}): AgentCommand {
    const now = this.now()
    return {
      ...{ id: newId('cmd'), agent_id: this.agentId, name, params },
      ...{ issued_at: now, expires_at: now + 300_000, requested_by: { type: 'user', id: 'usr_1', name: 'Alice' } },
      ...more,
    } as AgentCommand
  }

  sign(command: AgentCommand, key: KeyObject = this.hubKey): SignedCommand {
    return signCommand(key, command)
  }

  /** Gives the root half an order, as the agent does. */
  order(id: string, signed: SignedCommand, offset: number = 0): void {
    writeFileSync(join(this.folders.orders, `${id}.json`), JSON.stringify({ ...signed, clock_offset_ms: offset }))
  }

  /** Runs the root half. */
  async obey(system: System, timers: Pick<Clock, 'after'> = systemClock): Promise<void> {
    const { folders, settings, pinnedFile, now } = this
    await obeyOrders({ folders, system, settings, pinnedFile, now, timers, log: this.log('root'), refused: this.log('refused') })
  }

  /** The result of an order; null if there is none. */
  result(id: string): { outcome: string; detail: string | null; output: string | null } | null {
    const path = join(this.folders.results, `${id}.json`)
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true })
  }
}
