import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { desc, eq, inArray, sql } from 'drizzle-orm'
import { record } from '../core/change'
import { instant } from '../core/clock'
import type { Ctx } from '../core/ctx'
import type { Hub } from '../core/hub'
import { Instant, ListOf, MaybeInstant, Nullable, Shape, Words, type Page } from '../core/shapes'
import { deprecatedIn, deprecatedKinds, type Deprecated } from './deprecations'
import type { Route } from './route'
import { deprecationUses, tokens } from './tables'

// Of the tokens that use one thing, so many are named.
const mostNamed = 100

const TokenUse = Shape({
  id: Type.String({ description: 'Identifier of the token.' }),
  name: Type.String({ description: 'Its label.' }),
  uses: Type.Integer({ minimum: 1, description: 'Requests with it.' }),
  last_used_at: Instant({ description: 'The last of them.' }),
})
const Day = (description: string) => Type.String({ format: 'date', description })

export const DeprecatedPart = Shape(
  {
    id: Type.String({ description: 'Names it in this list.' }),
    kind: Words(deprecatedKinds, { description: 'What of the operation is deprecated.' }),
    operation_id: Type.String({ description: 'The operation.' }),
    method: Type.String({ description: 'Its method.' }),
    path: Type.String({ description: 'Its path.' }),
    name: Nullable(Type.String(), {
      description:
        'The parameter, the member of the answer, or the pointer to the member of the body; null for the operation itself.',
    }),
    since: Day('Since when it should not be used.'),
    sunset: Day('From when it may be gone.'),
    link: Type.String({ description: 'Page that says what to use instead.' }),
    note: Type.String({ description: 'What to use instead.' }),
    uses: Type.Integer({ minimum: 0, description: 'Requests of the workspace’s tokens that used it.' }),
    last_used_at: MaybeInstant({ description: 'The last of them; null for none.' }),
    tokens: Type.Array(TokenUse, { description: `The tokens that used it, the last one first; at most ${mostNamed}.` }),
  },
  {
    $id: 'DeprecatedPart',
    description: 'A part of the API that goes away, and who of the workspace uses it.',
    examples: [
      {
        id: 'listTokens?label',
        kind: 'parameter',
        operation_id: 'listTokens',
        method: 'GET',
        path: '/v1/tokens',
        name: 'label',
        since: '2027-01-31',
        sunset: '2028-01-31',
        link: '/docs/changelog',
        note: 'Search with the parameter q instead.',
        uses: 12,
        last_used_at: '2027-02-03T10:00:00.000Z',
        tokens: [
          { id: 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'backup script', uses: 12, last_used_at: '2027-02-03T10:00:00.000Z' },
        ],
      },
    ],
  },
)
export const DeprecatedPartList = ListOf(DeprecatedPart)
export type DeprecatedPartView = Static<typeof DeprecatedPart>

interface Use {
  workspaceId: string
  tokenId: string
  subject: string
  uses: number
  lastUsedAt: number
}

const declared = new WeakMap<Hub, readonly Deprecated[]>()
const noted = new WeakMap<Hub, Map<string, Use>>()

/** Tells a hub which operations it serves. @throws BadDeprecation */
export function knowOperations(hub: Hub, specs: readonly Route[]): void {
  declared.set(hub, specs.flatMap(deprecatedIn))
}

/** Notes that a request with a token used these. Written down once a minute, and when the hub stops. */
export function noteDeprecatedUse(hub: Hub, workspaceId: string, tokenId: string, used: readonly Deprecated[]): void {
  let uses = noted.get(hub)
  if (!uses) noted.set(hub, (uses = new Map()))
  for (const { id: subject } of used) {
    const key = `${tokenId} ${subject}`
    const before = uses.get(key)?.uses ?? 0
    uses.set(key, { workspaceId, tokenId, subject, uses: before + 1, lastUsedAt: hub.clock.now() })
  }
}

/** Writes the noted uses. */
export async function flushDeprecatedUse(hub: Hub): Promise<void> {
  const uses = noted.get(hub)
  if (!uses || uses.size === 0) return
  const taken = [...uses.values()]
  uses.clear()
  for (let start = 0; start < taken.length; start += 200) {
    const some = taken.slice(start, start + 200)
    await record(hub, async tx => {
      const rows = await tx
        .select({ id: tokens.id })
        .from(tokens)
        .where(
          inArray(
            tokens.id,
            some.map(one => one.tokenId),
          ),
        )
      const there = new Set(rows.map(row => row.id))
      const own = some.filter(one => there.has(one.tokenId))
      if (own.length === 0) return { result: undefined }
      await tx
        .insert(deprecationUses)
        .values(own)
        .onConflictDoUpdate({
          target: [deprecationUses.tokenId, deprecationUses.subject],
          set: { uses: sql`${deprecationUses.uses} + excluded.uses`, lastUsedAt: sql`excluded.last_used_at` },
        })
      return { result: undefined }
    })
  }
}

/** Everything that is deprecated, on one page, with the uses by tokens of the workspace. */
export async function listDeprecations(ctx: Ctx): Promise<Page<DeprecatedPartView>> {
  // What this process has noted is written first, so that what is shown is not a minute old.
  await flushDeprecatedUse(ctx.hub)
  const rows = await ctx.hub.read
    .select({ use: deprecationUses, name: tokens.name })
    .from(deprecationUses)
    .innerJoin(tokens, eq(tokens.id, deprecationUses.tokenId))
    .where(eq(deprecationUses.workspaceId, ctx.workspaceId))
    .orderBy(desc(deprecationUses.lastUsedAt), desc(deprecationUses.tokenId))
  const bySubject = Map.groupBy(rows, row => row.use.subject)
  const data = (declared.get(ctx.hub) ?? []).map(({ id, kind, spec, name, notice }): DeprecatedPartView => {
    const own = bySubject.get(id) ?? []
    return {
      id,
      kind,
      operation_id: spec.operationId,
      method: spec.method,
      path: spec.path.replaceAll(/:(\w+)/g, '{$1}'),
      name,
      ...notice,
      uses: own.reduce((sum, row) => sum + row.use.uses, 0),
      last_used_at: instant(own[0]?.use.lastUsedAt ?? null),
      tokens: own.slice(0, mostNamed).map(row => ({
        id: row.use.tokenId,
        name: row.name,
        uses: row.use.uses,
        last_used_at: instant(row.use.lastUsedAt),
      })),
    }
  })
  return { data, pagination: { has_more: false, next_cursor: null } }
}
