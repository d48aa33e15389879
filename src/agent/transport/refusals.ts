import type { AgentPermission } from '../../wire/agent-permissions'

const hourMs = 3_600_000

/**
 * What a hub of another version refused, so that it is left out of reports. It is tried again every hour and after each failure, because
 * the hub may have been updated.
 */
export class Refusals<Part extends string> {
  private readonly parts = new Set<Part>()
  private readonly words = new Set<string>()
  /** When everything is tried again, by the steady clock. */
  private until: number | null = null

  /** @param steady a clock that is never set (ms) */
  constructor(private readonly steady: () => number) {}

  add(parts: readonly Part[], words: readonly string[]): void {
    if (parts.length + words.length === 0) return
    for (const part of parts) this.parts.add(part)
    for (const word of words) this.words.add(word)
    this.until ??= this.steady() + hourMs
  }

  /** The permissions that the hub accepts, as far as is known. */
  accepted = (allow: readonly AgentPermission[]): AgentPermission[] => allow.filter(word => !this.words.has(word))

  /** Forgets what was refused once it is time to. @returns the parts to send again */
  expired(): Part[] {
    return this.until !== null && this.steady() >= this.until ? this.forget() : []
  }

  /** Forgets what was refused. @returns the parts to send again */
  forget(): Part[] {
    const parts = [...this.parts]
    this.parts.clear()
    this.words.clear()
    this.until = null
    return parts
  }
}

/**
 * The permissions that a hub refused: those of the items that its errors are about, or all. Every version knows `collect`.
 * @param pointers of the errors, such as `#/allow/1`
 */
export const refusedPermissions = (pointers: readonly string[], allow: readonly string[]): string[] =>
  pointers
    .flatMap(pointer => {
      const [, field, at] = pointer.split('/')
      return field !== 'allow' ? [] : at === undefined ? allow : (allow[Number(at)] ?? [])
    })
    .filter(word => word !== 'collect')
