import { Database } from 'bun:sqlite'
import { SQL } from 'bun'
import { beforeAll, expect, test } from 'bun:test'
import { sqliteFile } from '../../src/core/config'
import type { Ctx } from '../../src/core/ctx'
import { record } from '../../src/core/change'
import { json, text } from '../../src/core/db/columns'
import { index, isPostgres, table } from '../../src/core/db/dialect'
import { insertRows } from '../../src/core/db/insert-rows'
import { listingOf, listPage } from '../../src/core/list'
import { textFilter } from '../../src/core/list-filters'
import type { Page } from '../../src/core/shapes'
import { listingByLabel, saveLabels, selectorFilter } from '../../src/features/servers/label-filter'
import { labelTable } from '../../src/features/servers/label-tables'
import { matchesSelector, parseSelector, type Labels } from '../../src/features/servers/labels'
import { fullCtx } from '../support/full-ctx'
import { world } from '../support/world'

const things = table(
  'things',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id').notNull(),
    name: text('name').notNull(),
    labels: json<Labels>('labels').notNull(),
  },
  t => [index('things_workspace').on(t.workspaceId, t.id), index('things_name').on(t.workspaceId, t.name, t.id)],
)
const thingLabels = labelTable('thing_labels', () => things.id)

const listing = listingOf('things', things, {
  filters: { name: textFilter(things.name, 'Name.'), ...selectorFilter('things', things.id, thingLabels) },
  sorts: ['name'],
})

const ddl = `
  create table things (id text primary key, workspace_id text not null, name text not null, labels text not null);
  create index things_workspace on things (workspace_id, id);
  create index things_name on things (workspace_id, name, id);
  create table thing_labels (workspace_id text not null, resource_id text not null references things (id) on delete cascade,
    mark text not null, primary key (resource_id, mark));
  create index thing_labels_mark on thing_labels (workspace_id, mark, resource_id);`

type Thing = typeof things.$inferSelect
let hub: Ctx['hub']
let ctx: Ctx
let all: Thing[] = []

const keys = ['role', 'env', 'tier', 'zone']
const values = ['a', 'b', 'c']
/** Labels that differ with the number. */
const labelsOf = (n: number): Labels =>
  Object.fromEntries([['all', 'yes'], ...keys.flatMap((key, at) => ((n >> at) % 3 ? [[key, values[((n + at) % 5) % 3]!]] : []))])

beforeAll(async () => {
  const { hub: own, acme, rival } = await world()
  hub = own
  if (isPostgres) {
    const sql = new SQL(hub.config.databaseUrl!, { max: 1 })
    await sql.unsafe(ddl)
    await sql.close()
  } else {
    using db = new Database(sqliteFile(hub.config))
    db.run(ddl)
  }
  ctx = fullCtx(hub, acme.workspaceId)
  const row = (n: number, workspaceId: string): Thing => ({
    id: `thing_${workspaceId.slice(-4)}_${String(n).padStart(4, '0')}`,
    workspaceId,
    name: `${n % 7}`,
    labels: labelsOf(n),
  })
  all = Array.from({ length: 1_050 }, (_, n) => row(n, acme.workspaceId))
  const others = Array.from({ length: 30 }, (_, n) => row(n, rival.workspaceId))
  await record(hub, async tx => {
    await insertRows(tx, things, [...all, ...others])
    for (const some of [all, others])
      await saveLabels(
        tx,
        thingLabels,
        some[0]!.workspaceId,
        some.map(one => ({ id: one.id, before: {}, after: one.labels })),
      )
    return { result: undefined }
  })
})

/** The names of all pages. */
async function walk(query: Record<string, unknown>, of: Ctx = ctx): Promise<string[]> {
  const found: string[] = []
  let cursor: string | null = null
  do {
    const asked: Record<string, unknown> = { limit: 100, ...query, ...(cursor !== null && { cursor }) }
    const page: Page<string> = await listPage(of, await listingByLabel(of, listing, thingLabels, asked), asked, one => one.id)
    found.push(...page.data)
    cursor = page.pagination.next_cursor
  } while (cursor !== null)
  return found
}

const selectors = [
  'role=a',
  'role',
  '!role',
  'role!=a',
  'role=a,env=b',
  'role,env,!tier',
  'tier,role=c,zone!=b',
  'role=a,role=a',
  'role=a,role=b',
  'none',
  '!none',
  'none!=a,env',
  // More than are sorted.
  'all',
  'all=yes,role=a',
  'all,!role',
]

test('a list finds the resources that match a selector, in each order, with other filters, and page by page', async () => {
  for (const selector of selectors) {
    const ids = all.filter(one => matchesSelector(parseSelector(selector), one.labels)).map(one => one.id)
    const query = { label_selector: selector }
    expect([selector, await walk({ ...query, sort: ['id'] })]).toEqual([selector, ids])
    expect([selector, await walk(query)]).toEqual([selector, ids.toReversed()])
    const byName = all.filter(one => ids.includes(one.id)).sort((a, b) => Number(a.name) - Number(b.name))
    expect([selector, await walk({ ...query, sort: ['name'] })]).toEqual([selector, byName.map(one => one.id)])
    const named = byName.filter(one => one.name === '3').map(one => one.id)
    expect([selector, await walk({ ...query, name: '3', sort: ['id'] })]).toEqual([selector, named])
    const few = new Set(all.slice(0, 400).map(one => one.id))
    const narrowed = await walk({ ...query, sort: ['id'] }, { ...ctx, resourceIds: few })
    expect([selector, narrowed]).toEqual([selector, ids.filter(id => few.has(id))])
    const asked = { ...query, include: 'total' }
    const page = await listPage(ctx, await listingByLabel(ctx, listing, thingLabels, asked), asked, one => one.id)
    expect(page.pagination.total).toBe(ids.length)
  }
})

test('an invalid selector is rejected, in each order', async () => {
  for (const sort of [['id'], ['name']])
    await expect(walk({ label_selector: 'role=a,b c', sort })).rejects.toMatchObject({
      code: 'invalid_parameter',
      extras: { errors: [{ pointer: '#/query/label_selector', detail: expect.stringContaining('"b c"') }] },
    })
})

test('changed labels find a resource by its new labels only, and deleted resources leave none', async () => {
  const [one] = all
  const { id, labels: before } = one!
  const after = { role: 'changed', env: before.env ?? 'b' }
  const save = (from: Labels, to: Labels) =>
    record(hub, async tx => {
      await saveLabels(tx, thingLabels, ctx.workspaceId, [{ id, before: from, after: to }])
      return { result: undefined }
    })
  await save(before, after)
  expect(await walk({ label_selector: 'role=changed' })).toEqual([id])
  for (const key of keys) expect((await walk({ label_selector: key })).includes(id)).toBe(Object.hasOwn(after, key))
  await save(after, {})
  expect(await walk({ label_selector: 'role=changed' })).toEqual([])
  expect(await walk({ label_selector: keys.map(key => `!${key}`).join() })).toContain(id)
  await save({}, after)
  await record(hub, async tx => {
    await tx.delete(things)
    return { result: undefined }
  })
  expect(await hub.read.select().from(thingLabels)).toEqual([])
})
