import { describe, expect, test } from 'bun:test'
import { newId } from '../../src/core/ids'
import { auditEntries, idempotencyKeys } from '../../src/core/db/tables'
import { defaultSshKeys, sshKeysOf } from '../../src/features/servers/ssh-keys/ssh-keys'
import { fullCtx } from '../support/full-ctx'
import { ed25519KeyPair } from '../support/ssh-server'
import { securityKeys, sshKeyOf, sshKeys, weakSshKeys } from '../support/ssh-keys'
import { world, type Caller, type World } from '../support/world'

const path = '/v1/ssh-keys'
const { text: alice, fingerprint } = sshKeys.ed25519

async function add(caller: Caller, name: string, public_key: string, more: object = {}) {
  const { status, body } = await caller.call('POST', path, { name, public_key, ...more })
  expect([status, body.errors]).toEqual([201, undefined])
  return body
}
/** A key for each number. */
const keyOf = (n: number) => {
  const octets = Buffer.alloc(32)
  octets.writeUInt32BE(n)
  return sshKeyOf('ssh-ed25519', octets)
}
const refusal = async (w: World, body: object, status = 422) => {
  const response = await w.acme.call('POST', path, { name: 'key', ...body })
  expect([response.status, response.body.errors?.length]).toEqual([status, 1])
  return response.body.errors[0]
}

describe('an SSH key', () => {
  test('is added, read, updated, and deleted, with audit events', async () => {
    const { acme, audited } = await world()
    const created = await acme.call('POST', path, { name: 'Alice', public_key: ` ${alice}\n` })
    expect(created.headers.get('location')).toBe(`${path}/${created.body.id}`)
    const { id } = created.body
    expect(id).toStartWith('sshk_')
    expect(created.body).toEqual({
      id,
      name: 'Alice',
      public_key: alice,
      default: false,
      algorithm: 'ssh-ed25519',
      fingerprint,
      version: 1,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    const one = `${path}/${id}`
    expect((await acme.call('GET', one)).body).toEqual(created.body)
    const updated = await acme.call('PATCH', one, { name: 'Alice’s laptop', default: true }, { 'if-match': '"1"' })
    expect(updated.body).toMatchObject({ name: 'Alice’s laptop', default: true, public_key: alice, version: 2 })
    expect((await acme.call('PATCH', one, { default: true })).body.version).toBe(2)
    expect((await acme.call('PATCH', one, { default: false }, { 'if-match': '"1"' })).status).toBe(412)
    const fixed = await acme.call('PATCH', one, { public_key: sshKeys.ecdsa256.text })
    expect([fixed.status, fixed.body.errors[0].pointer]).toEqual([422, '#/public_key'])
    expect((await acme.call('DELETE', one)).status).toBe(204)
    expect((await acme.call('GET', one)).status).toBe(404)
    expect(await audited()).toEqual(['cloud.ssh_key.create', 'cloud.ssh_key.update', 'cloud.ssh_key.delete'])
  })

  test('can have any supported algorithm', async () => {
    const { acme } = await world()
    const keys = [...Object.values(sshKeys).map(one => one.text), ...Object.values(securityKeys)]
    for (const [n, text] of keys.entries())
      expect(await add(acme, `key ${n}`, text)).toMatchObject({ public_key: text, algorithm: text.split(' ')[0] })
    const { body } = await acme.call('GET', `${path}?sort=name&include=total`)
    expect(body.data.map((one: any) => one.public_key)).toEqual(keys)
    expect(body.pagination.total).toBe(keys.length)
  })

  test('is only visible in its workspace, and changed only with write permission', async () => {
    const { acme, rival, readOnly, anonymous, scoped } = await world()
    const { id } = await add(acme, 'Alice', alice)
    const one = `${path}/${id}`
    const statuses = async (caller: Caller) => [
      (await caller.call('GET', path)).body.data?.length ?? 'refused',
      (await caller.call('GET', one)).status,
      (await caller.call('PATCH', one, { default: true })).status,
      (await caller.call('POST', path, { name: 'Bob', public_key: 'no key' })).status,
      (await caller.call('DELETE', one)).status,
    ]
    expect(await statuses(rival)).toEqual([0, 404, 404, 422, 404])
    expect(await statuses(readOnly)).toEqual([1, 200, 403, 403, 403])
    expect(await statuses(await scoped('cloud.read'))).toEqual([1, 200, 403, 403, 403])
    expect(await statuses(await scoped('dns.write', 'account.write'))).toEqual(['refused', 403, 403, 403, 403])
    expect(await statuses(anonymous)).toEqual(['refused', 401, 401, 401, 401])
    // Another workspace can add the same key under the same name.
    expect((await add(rival, 'Alice', alice)).id).not.toBe(id)
    expect(await statuses(await scoped('cloud.write'))).toEqual([1, 200, 200, 422, 204])
  })
})

test('a key and a name exist only once in a workspace', async () => {
  const w = await world()
  const { id } = await add(w.acme, 'Alice', alice)
  const [algorithm, base64] = alice.split(' ')
  expect(await refusal(w, { name: 'Other', public_key: `${algorithm} ${base64} another comment` }, 409)).toEqual({
    pointer: '#/public_key',
    code: 'already_exists',
    detail: 'already exists, with the name "Alice".',
  })
  expect(await refusal(w, { name: 'Alice', public_key: keyOf(1) }, 409)).toMatchObject({
    pointer: '#/name',
    code: 'already_exists',
  })
  const other = await add(w.acme, 'Other', keyOf(1))
  const renamed = await w.acme.call('PATCH', `${path}/${other.id}`, { name: 'Alice' })
  expect([renamed.status, renamed.body.detail]).toEqual([409, 'An SSH key named "Alice" already exists.'])
  const both = await Promise.all(['a', 'b'].map(name => w.acme.call('POST', path, { name, public_key: keyOf(2) })))
  expect(both.map(one => one.status).sort()).toEqual([201, 409])
  // A deleted key can be added again.
  await w.acme.call('DELETE', `${path}/${id}`)
  await add(w.acme, 'Alice', alice)
})

test('a workspace has at most 100 keys', async () => {
  const w = await world()
  for (let n = 0; n < 100; n++) await add(w.acme, `key ${n}`, keyOf(n))
  const more = await w.acme.call('POST', path, { name: 'more', public_key: keyOf(100) })
  expect([more.status, more.body.detail]).toEqual([409, 'A workspace can have at most 100 SSH keys.'])
})

test('keys are filtered by default, algorithm, fingerprint, and words, and sorted', async () => {
  const { acme } = await world()
  await add(acme, 'Bob', sshKeys.rsa3072.text, { default: true })
  await add(acme, 'Alice’s laptop', alice)
  await add(acme, 'Alice’s desk', sshKeys.ecdsa256.text, { default: true })
  const names = async (query: string) =>
    (await acme.call('GET', `${path}?sort=name&${query}`)).body.data.map((one: any) => one.name)
  expect(await names('default=true')).toEqual(['Alice’s desk', 'Bob'])
  expect(await names('default=false')).toEqual(['Alice’s laptop'])
  expect(await names('algorithm=ssh-rsa,ssh-ed25519')).toEqual(['Alice’s laptop', 'Bob'])
  expect(await names(`fingerprint=${encodeURIComponent(fingerprint)}`)).toEqual(['Alice’s laptop'])
  expect(await names('q=alice%20lap')).toEqual(['Alice’s laptop'])
  expect(await names(`q=${encodeURIComponent(fingerprint.slice(7, 20))}`)).toEqual(['Alice’s laptop'])
})

test('invalid keys are rejected by their field and rule', async () => {
  const w = await world()
  const cases: [unknown, string, string][] = [
    [weakSshKeys.rsa1024, 'weak_key', 'is an RSA key with 1024 bits.'],
    [weakSshKeys.dsa, 'weak_key', 'is a DSA key'],
    [`command="id" ${alice}`, 'not_supported', 'must start with the algorithm.'],
    [alice.slice(0, 40), 'format', 'is damaged'],
    ['hello', 'format', 'must be a public key in OpenSSH format.'],
    ['', 'format', 'must be a public key in OpenSSH format.'],
    [`${alice} ${'x'.repeat(16_384)}`, 'too_long', 'must have at most 16384 characters.'],
    [7, 'type', 'must be a string.'],
  ]
  for (const [public_key, code, detail] of cases)
    expect(await refusal(w, { public_key })).toEqual({ pointer: '#/public_key', code, detail: expect.stringContaining(detail) })
  expect(await refusal(w, {})).toMatchObject({ pointer: '#/public_key', code: 'required' })
  expect(await refusal(w, { name: ' ', public_key: alice })).toMatchObject({ pointer: '#/name' })
  expect(await refusal(w, { public_key: alice, default: 'yes' })).toMatchObject({ pointer: '#/default', code: 'type' })
  expect(await refusal(w, { public_key: alice, comment: 'a' })).toMatchObject({ pointer: '#/comment', code: 'unknown_field' })
  expect((await w.acme.call('GET', path)).body.data).toEqual([])
})

test('a private key is rejected as such, and nothing of it is returned or stored', async () => {
  const w = await world()
  const { private: secret } = ed25519KeyPair()
  const lines = secret.split('\n').filter(line => line.length > 20 && !line.startsWith('-----'))
  expect(lines.length).toBeGreaterThan(2)
  for (const public_key of [secret, `${alice}\n${secret}`, lines.join('\n')]) {
    const headers = { 'idempotency-key': newId('req') }
    const response = await w.acme.call('POST', path, { name: 'key', public_key }, headers)
    expect([response.status, response.body.errors]).toEqual([
      422,
      [{ pointer: '#/public_key', code: 'private_key', detail: expect.stringContaining('is a private key.') }],
    ])
    for (const line of lines) expect(response.text).not.toContain(line)
  }
  const stored = JSON.stringify([await w.hub.read.select().from(auditEntries), await w.hub.read.select().from(idempotencyKeys)])
  for (const line of lines) expect(stored).not.toContain(line)
})

describe('the keys of a new server', () => {
  test('are those that its request names, by ID or as text, each once', async () => {
    const w = await world()
    const ctx = fullCtx(w.hub, w.acme.workspaceId)
    const { id } = await add(w.acme, 'Alice', alice)
    const [algorithm, base64] = alice.split(' ')
    const stored = { name: 'Alice', publicKey: alice }
    expect(await sshKeysOf(w.hub.read, ctx, [])).toEqual([])
    expect(await sshKeysOf(w.hub.read, ctx, [id, keyOf(1), `${keyOf(2)} bob@desk`, id])).toEqual([
      stored,
      { name: expect.stringMatching(/^SHA256:/), publicKey: keyOf(1) },
      { name: 'bob@desk', publicKey: `${keyOf(2)} bob@desk` },
    ])
    // The text of a stored key has its name.
    expect(await sshKeysOf(w.hub.read, ctx, [`${algorithm} ${base64}`])).toEqual([
      { name: 'Alice', publicKey: `${algorithm} ${base64}` },
    ])
  })

  test('must exist in the workspace, and be visible to the caller', async () => {
    const w = await world()
    const ctx = fullCtx(w.hub, w.acme.workspaceId)
    const own = (await add(w.acme, 'Alice', alice)).id
    const foreign = (await add(w.rival, 'Rival', keyOf(1))).id
    const { private: secret } = ed25519KeyPair()
    const unknown = 'must be the ID of an SSH key of the workspace.'
    await expect(sshKeysOf(w.hub.read, ctx, [own, foreign, newId('sshk'), secret, 'no key'])).rejects.toMatchObject({
      code: 'validation_failed',
      extras: {
        errors: [
          { pointer: '#/ssh_keys/1', code: 'not_found', detail: unknown },
          { pointer: '#/ssh_keys/2', code: 'not_found', detail: unknown },
          { pointer: '#/ssh_keys/3', code: 'private_key', detail: expect.stringContaining('is a private key.') },
          { pointer: '#/ssh_keys/4', code: 'format', detail: expect.stringContaining('OpenSSH format') },
        ],
      },
    })
    const restricted = { ...ctx, resourceIds: new Set([newId('srv')]) }
    await expect(sshKeysOf(w.hub.read, restricted, [own])).rejects.toMatchObject({ code: 'validation_failed' })
  })

  test('are the default keys of the workspace otherwise', async () => {
    const w = await world()
    const ctx = fullCtx(w.hub, w.acme.workspaceId)
    expect(await defaultSshKeys(w.hub.read, ctx)).toEqual([])
    await add(w.acme, 'Bob', keyOf(1), { default: true })
    await add(w.acme, 'Alice', alice, { default: true })
    await add(w.acme, 'Other', keyOf(2))
    await add(w.rival, 'Rival', keyOf(3), { default: true })
    expect(await defaultSshKeys(w.hub.read, ctx)).toEqual([
      { name: 'Alice', publicKey: alice },
      { name: 'Bob', publicKey: keyOf(1) },
    ])
  })
})
