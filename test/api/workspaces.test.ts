import { expect, test } from 'bun:test'
import { addWorkspace, world } from '../support/world'

test('the operator’s list of workspaces can be paginated, searched and sorted', async () => {
  const here = await world()
  for (const name of ['delta', 'alpha', 'charlie', 'bravo']) await addWorkspace(here.hub, name, 'pro')
  const list = async (query: string) => (await here.acme.call('GET', `/v1/workspaces?${query}`)).body
  const names = (page: any) => page.data.map((one: any) => one.name)
  const all = names(await list('sort=name'))
  expect(all).toEqual(['alpha', 'bravo', 'charlie', 'default', 'delta', 'rival'])
  const walked: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 3; pages++) {
    const page = await list(`sort=name&limit=2${cursor}`)
    walked.push(...names(page))
    expect(page.pagination.has_more).toBe(pages < 2)
    cursor = `&cursor=${page.pagination.next_cursor}`
  }
  expect(walked).toEqual(all)
  expect(names(await list('sort=-name&limit=1'))).toEqual(['rival'])
  expect(names(await list('q=LPH'))).toEqual(['alpha'])
  expect((await list('include=total&limit=1')).pagination.total).toBe(6)
  expect(names(await list('sort=-created_at,name&limit=2'))).toEqual(['alpha', 'bravo'])
  expect((await here.acme.call('GET', '/v1/workspaces?owner=x')).status).toBe(400)
})

test('a customer only sees their own workspace, and cannot use a cursor of the operator', async () => {
  const here = await world()
  const own = await here.rival.call('GET', '/v1/workspaces?include=total')
  expect([own.body.data.map((one: any) => one.id), own.body.pagination.total]).toEqual([[here.rival.workspaceId], 1])
  const { next_cursor } = (await here.acme.call('GET', '/v1/workspaces?limit=1')).body.pagination
  expect((await here.rival.call('GET', `/v1/workspaces?limit=1&cursor=${next_cursor}`)).body.code).toBe('invalid_cursor')
  expect((await here.rival.call('GET', `/v1/workspaces/${here.acme.workspaceId}`)).status).toBe(404)
})

test('of updates based on the same version, only one succeeds', async () => {
  const here = await world()
  const path = `/v1/workspaces/${here.rival.workspaceId}`
  const { headers } = await here.acme.call('GET', path)
  const seen = { 'if-match': headers.get('etag')! }
  const edits = await Promise.all([1, 2, 3, 4, 5, 6].map(n => here.acme.call('PATCH', path, { name: `rival ${n}` }, seen)))
  expect(edits.map(one => one.status).sort()).toEqual([200, 412, 412, 412, 412, 412])
  expect((await here.acme.call('GET', path)).body.version).toBe(2)
})
