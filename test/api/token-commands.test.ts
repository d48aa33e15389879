import { expect, test } from 'bun:test'
import { runSource } from '../support/command'
import { world, type World } from '../support/world'

const token = ({ hub: { config } }: World, ...args: string[]) =>
  runSource(['token', ...args], {
    BAILIWICK_DATA: config.data,
    BAILIWICK_MASTER_KEY_FILE: config.masterKeyFile!,
    BAILIWICK_DATABASE_URL: config.databaseUrl ?? '',
  })

test('the command line lists tokens without their values, and revokes them', async () => {
  const w = await world()
  const created = (await w.acme.call('POST', '/v1/tokens', { name: 'deploy', permissions: ['dns.write', 'account.read'] })).body
  expect((await token(w, 'create', '--read-only', '--workspace', 'rival', '--name', 'two\tparts\u001b[2J')).code).toBe(0)
  const listed = await token(w, 'list')
  expect(listed.code).toBe(0)
  const lines = listed.out
    .trimEnd()
    .split('\n')
    .map(line => line.split('\t'))
  expect(lines.map(line => line[3])).toContain('rival')
  expect(lines.find(line => line[0] === created.id)).toEqual([
    created.id,
    created.hint,
    'deploy',
    'default',
    created.permissions.join(','),
    'never',
    'never',
  ])
  expect(listed.out).not.toContain(created.token)
  const ofRival = (await token(w, 'list', '--workspace', 'rival')).out.trimEnd().split('\n')
  expect(ofRival.map(line => line.split('\t')[3])).toEqual(['rival', 'rival'])

  expect(listed.out).toContain('two parts [2J')

  expect(await token(w, 'revoke', created.id)).toEqual({ code: 0, out: 'Revoked token deploy.\n', err: '' })
  expect(await token(w, 'revoke', created.id)).toEqual({ code: 0, out: 'Token deploy was already revoked.\n', err: '' })
  const audited = (await w.acme.call('GET', '/v1/audit-events?action=account.token.revoke')).body.data
  expect(audited).toMatchObject([{ targets: [{ id: created.id }], actor: { type: 'operator' }, context: { channel: 'cli' } }])
  w.clock.advance(1000)
  const refused = await w.anonymous.call('GET', '/v1/tokens', undefined, { authorization: `Bearer ${created.token}` })
  expect([refused.status, refused.body.code]).toEqual([401, 'token_revoked'])
  expect((await token(w, 'list')).out).not.toContain(created.id)
  expect((await token(w, 'list', '--all')).out).toMatch(new RegExp(`^${created.id}\t.*\trevoked$`, 'm'))
  expect(await token(w, 'revoke', 'tok_nothing')).toEqual({
    code: 1,
    out: '',
    err: 'No token has the ID tok_nothing. Run bailiwick token list to list all tokens.\n',
  })
}, 180_000)
