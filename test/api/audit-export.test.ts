import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { writeFileSync } from 'node:fs'
import { checkpointFile, signAudit } from '../../src/features/audit/checkpoint-file'
import { jobContext, record, systemActor } from '../../src/core/change'
import { world } from '../support/world'

test('an export has all entries of the workspace and no others, in both formats', async () => {
  const w = await world()
  await w.acme.call('POST', '/v1/tokens', { name: '=HYPERLINK("http://x")', mode: 'read_only' }, { 'user-agent': '=cmd()' })
  await w.rival.call('POST', '/v1/tokens', { name: 'of rival', mode: 'read_only' })
  const listed = (await w.acme.call('GET', '/v1/audit-events?sort=seq&limit=100')).body.data as any[]
  const ndjson = await w.acme.call('GET', '/v1/audit-events/export')
  expect([ndjson.status, ndjson.headers.get('content-type'), ndjson.headers.get('content-disposition')]).toEqual([
    200,
    'application/x-ndjson',
    `attachment; filename="audit-${w.acme.workspaceId}-${listed.length}.ndjson"`,
  ])
  const lines = ndjson.text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(lines).toMatchObject(listed)
  expect(new Set(lines.map(line => line.workspace_id))).toEqual(new Set([w.acme.workspaceId]))

  const csv = await w.acme.call('GET', '/v1/audit-events/export?format=csv')
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  expect(csv.text.split('\r\n').length).toBe(listed.length + 2)
  expect(csv.text).toContain(`,"'=cmd()",`)
  expect(csv.text.split('\r\n')[0]).toContain(',"action","code","outcome",')
  expect(csv.text).toContain(',"account.token.create","AC001S","success",')
  expect((await w.acme.call('GET', '/v1/audit-events/export?format=xml')).status).toBe(400)
  expect((await (await w.scoped('dns.read')).call('GET', '/v1/audit-events/export')).status).toBe(403)
})

test('an export longer than a page is complete, and verifies without hub, database, and master key', async () => {
  const w = await world()
  const audits = Array.from({ length: 1_100 }, (_, n) => ({
    workspaceId: w.acme.workspaceId,
    action: 'heartbeat.update' as const,
    actor: systemActor('x'),
    context: jobContext,
    targets: [{ type: 'heartbeat', id: `hb_${n}`, name: null }],
  }))
  for (let first = 0; first < audits.length; first += 100) {
    await record(w.hub, async () => ({ result: undefined, audits: audits.slice(first, first + 100) }))
  }
  // More than 1,000 entries are signed before the hour is over.
  await signAudit(w.hub)
  const { text } = await w.acme.call('GET', '/v1/audit-events/export')
  const { data } = w.hub.config
  const { databaseUrl, masterKeyFile } = w.hub.config
  const run = async (args: string[], env: Record<string, string> = {}) => {
    const command = Bun.spawn([process.execPath, 'src/bin/hub.ts', 'audit', ...args], {
      env: { PATH: process.env.PATH, BAILIWICK_DATA: data, ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    return { out: await new Response(command.stdout).text(), code: await command.exited }
  }
  const there = { BAILIWICK_MASTER_KEY_FILE: masterKeyFile!, ...(databaseUrl && { BAILIWICK_DATABASE_URL: databaseUrl }) }
  writeFileSync(join(data, 'audit.pem'), (await run(['public-key'], there)).out)
  const verify = async (name: string, log: string) => {
    const [file, checkpoints, key] = [join(data, `${name}.ndjson`), checkpointFile(w.hub.config), join(data, 'audit.pem')]
    writeFileSync(file, log)
    return await run(['verify', '--export', file, '--checkpoint', checkpoints, '--public-key', key])
  }
  const n = text.trimEnd().split('\n').length
  expect(n).toBeGreaterThan(1_100)
  const [whole, earlier, ...altered] = await Promise.all([
    verify('whole', text),
    // An export of an earlier version, without codes.
    verify('earlier', text.replaceAll(/,"code":"\w+"/g, '')),
    verify('target', text.replace('hb_700', 'hb_701')),
    verify('code', text.replace('"code":"HB002S"', '"code":"HB003S"')),
  ])
  expect(whole).toEqual({ code: 0, out: `ok    ${w.acme.workspaceId}  ${n} entries, all verified\n` })
  expect(earlier!.code).toBe(0)
  for (const one of altered) expect(one).toEqual({ code: 4, out: expect.stringContaining('edit') })
  // Starts five processes, a second each on an idle machine.
}, 180_000)
