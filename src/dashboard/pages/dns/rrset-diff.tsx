import { Diff } from '../../parts/diff'
import { Tag } from '../../parts/status'

/** State of one name and type, as in plans, readings and the history. */
export interface RrsetState {
  ttl: number
  values: readonly string[]
  /** Metadata lines, such as `locked` or `comment: …`. */
  metadata?: readonly string[]
  options?: { proxied?: boolean | undefined } | null | undefined
}

interface RrsetDiffProps {
  before: RrsetState | null
  after: RrsetState | null
  beforeLabel: string
  afterLabel: string
}

/** Diff of one name and type. */
export const RrsetDiff = ({ before, after, beforeLabel, afterLabel }: RrsetDiffProps) => (
  <Diff
    before={linesOf(before)}
    after={linesOf(after)}
    beforeLabel={before ? beforeLabel : `${beforeLabel}: none`}
    afterLabel={after ? afterLabel : `${afterLabel}: none`}
    contextLines={50}
  />
)

function linesOf(state: RrsetState | null): string[] {
  if (!state) return []
  const { ttl, values, options, metadata } = state
  const proxied = options?.proxied === undefined ? [] : [options.proxied ? 'proxied' : 'not proxied']
  // The order of values has no meaning in DNS.
  return [`TTL ${ttl}`, ...[...values].sort(), ...proxied, ...(metadata ?? [])]
}

const signs = { create: '+', update: '~', delete: '−' } as const
const looks = { create: 'text-ok', update: 'text-warn', delete: 'text-bad' } as const

/** A name and type, with the action applied to it. */
export const RrsetName = ({ name, type, action }: { name: string; type: string; action?: keyof typeof signs }) => (
  <span className="inline-flex min-w-0 items-baseline gap-2">
    {action && (
      <>
        <span aria-hidden className={`w-3 text-center font-mono font-bold ${looks[action]}`}>
          {signs[action]}
        </span>
        <span className="sr-only">{action}</span>
      </>
    )}
    <code className="min-w-0 font-mono wrap-anywhere">{name}</code> <Tag>{type}</Tag>
  </span>
)

interface RrsetChangesProps {
  changes: readonly {
    name: string
    type: string
    action: keyof typeof signs
    before: RrsetState | null
    after: RrsetState | null
  }[]
  afterLabel: string
}

/** Changes by name and type. */
export const RrsetChanges = ({ changes, afterLabel }: RrsetChangesProps) => (
  <ul className="flex flex-col gap-3">
    {changes.map(({ before, after, ...one }) => (
      <li key={`${one.name} ${one.type}`} className="min-w-0">
        <p className="mb-1">
          <RrsetName {...one} />
        </p>
        <RrsetDiff before={before} after={after} beforeLabel="Current" afterLabel={afterLabel} />
      </li>
    ))}
  </ul>
)

/** The action that turns one state of a name and type into another. */
export const actionOf = (before: unknown, after: unknown): keyof typeof signs =>
  before === null ? 'create' : after === null ? 'delete' : 'update'
