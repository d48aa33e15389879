import { Diff } from '../../parts/diff'
import { Tag } from '../../parts/status'

/** Values of one name and type, as plans, readings and the history tell them. */
export interface RrsetForm {
  ttl: number
  values: readonly string[]
  /** Further members in words, a line each: «locked», «comment: …». */
  others?: readonly string[]
  options?: { proxied?: boolean | undefined } | null | undefined
}

interface RrsetDiffProps {
  before: RrsetForm | null
  after: RrsetForm | null
  beforeLabel?: string
  afterLabel?: string
}

/** One name and type on two sides. */
export const RrsetDiff = ({ before, after, beforeLabel = 'Before', afterLabel = 'After' }: RrsetDiffProps) => (
  <Diff
    before={linesOf(before)}
    after={linesOf(after)}
    beforeLabel={before ? beforeLabel : `${beforeLabel}: nothing`}
    afterLabel={after ? afterLabel : `${afterLabel}: nothing`}
    around={50}
  />
)

function linesOf(form: RrsetForm | null): string[] {
  if (!form) return []
  const { ttl, values, options, others } = form
  const proxied = options?.proxied === undefined ? [] : [options.proxied ? 'proxied' : 'not proxied']
  // The order of values says nothing in DNS.
  return [`TTL ${ttl}`, ...[...values].sort(), ...proxied, ...(others ?? [])]
}

const signs = { create: '+', update: '~', delete: '−' } as const
const looks = { create: 'text-ok', update: 'text-warn', delete: 'text-bad' } as const

/** A name and its type, with what is done to them. */
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

/** What is done to a name and type by what is there before and after. */
export const actionOf = (before: unknown, after: unknown): keyof typeof signs =>
  before === null ? 'create' : after === null ? 'delete' : 'update'
