import { expect, test } from 'bun:test'
import { createdIn } from './created'

const post = (path: string) => ({ method: 'POST', path }) as const

test('a request to a list that returns a resource created it', () => {
  expect(createdIn(post('/monitors'), { id: 'mon_1', name: 'Shop' })).toEqual({ title: 'Shop created', to: '/monitors/mon_1' })
  expect(createdIn(post('/monitors/mon_1/clone'), { id: 'mon_2', name: 'Shop (copy)' })).toEqual({
    title: 'Shop (copy) created',
    to: '/monitors/mon_2',
  })
  const results = (...ids: string[]) => ({ results: ids.map(id => ({ op: 'create', body: { id, name: id } })) })
  expect(createdIn(post('/monitors/bulk'), results('mon_1'))).toEqual({ title: 'mon_1 created', to: '/monitors/mon_1' })
  expect(createdIn(post('/monitors/bulk'), results('mon_1', 'mon_2'))).toEqual({ title: '2 monitors created', to: '/monitors' })
})

test('other requests create nothing that has a page', () => {
  expect(createdIn(post('/monitors/mon_1/pause'), { id: 'mon_1', name: 'Shop' })).toBeNull()
  expect(createdIn({ method: 'PATCH', path: '/monitors/mon_1' }, { id: 'mon_1', name: 'Shop' })).toBeNull()
  expect(createdIn(post('/monitors/bulk'), { results: [{ op: 'pause', body: { id: 'mon_1' } }] })).toBeNull()
  expect(createdIn(post('/sessions'), { id: 'ses_1' })).toBeNull()
  expect(createdIn(post('/monitors/mon_1/check'), undefined)).toBeNull()
})
