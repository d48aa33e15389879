import { appendFileSync, renameSync, statSync } from 'node:fs'
import { instant } from '../../core/clock'
import type { AgentCommand } from '../../wire/agent-command'

/** At this size, the log is renamed, and a new one begins. */
const maxBytes = 5 * 1024 * 1024

/** The log of commands on the server, one per line: when, what, what for, who asked for it, and the result. */
export class CommandLog {
  /** @param warn called if it can't be written */
  constructor(
    private readonly path: string,
    private readonly now: () => number,
    private readonly warn: (text: string) => void,
  ) {}

  /** @param command null if it is not known which one it is */
  write(command: AgentCommand | null, result: string, detail: string | null): void {
    const parts = [
      instant(this.now()),
      command?.id ?? '-',
      command ? described(command) : '-',
      command ? `by ${asker(command)}` : '-',
      result,
      ...(detail === null ? [] : [detail]),
    ]
    try {
      if (sizeOf(this.path) > maxBytes) renameSync(this.path, `${this.path}.1`)
      appendFileSync(this.path, `${parts.map(oneLine).join(' | ')}\n`, { mode: 0o640 })
    } catch (error) {
      this.warn(`${this.path} can’t be written: ${(error as Error).message}.`)
    }
  }
}

function described({ name, params }: AgentCommand): string {
  const { unit, mac, digest, version, install_profile: profile } = params as Record<string, string | undefined>
  const about = unit ?? mac ?? digest ?? version ?? profile
  return about === undefined ? name : `${name} ${about}`
}

const asker = ({ requested_by: { type, id, name } }: AgentCommand): string =>
  [type, id, name].filter(one => typeof one === 'string').join(' ')

/** Texts from elsewhere must not look like other lines. */
const oneLine = (text: string): string => text.replaceAll(/[\s\p{Cc}|]+/gu, ' ').slice(0, 500)

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
