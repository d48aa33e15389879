import { expect, test } from 'bun:test'
import { listMonitorTypes } from '../../features/monitors/definition/types'
import { fieldsOf, kindOf, mergePatch, optionsFrom, type OptionSchema } from './option-values'

const schemasOf = (type: string) =>
  listMonitorTypes().data.find(one => one.type === type)!.options.properties as Record<string, OptionSchema>
const filled = (schemas: Record<string, OptionSchema>, options: Record<string, unknown>) =>
  Object.assign({}, ...Object.entries(schemas).map(([name, schema]) => fieldsOf(`options.${name}`, schema, options[name])))

test('an untouched form sends no options, for every type', () => {
  for (const { type } of listMonitorTypes().data) expect(optionsFrom(schemasOf(type), filled(schemasOf(type), {}))).toEqual({})
})

test('options survive a round trip through the form unchanged', () => {
  const set = {
    http: {
      method: 'POST',
      headers: { Accept: 'text/html', 'X-A': 'b: c' },
      auth: { type: 'basic', username: 'probe', password: 'x' },
      accepted_status_codes: ['200-299', '401'],
      follow_redirects: false,
      max_redirects: 0,
      ip_family: 6,
      client_certificate: { cert: 'C', key: 'K' },
      proxy: { url: 'http://proxy.example.com:3128' },
      ssh_tunnel: { host: 'bastion.example.net', port: 2222, username: 'probe', host_key: `SHA256:${'a'.repeat(43)}` },
    },
    tcp: { tls: 'starttls', steps: [{ expect: '^220 ', send: 'QUIT\r\n' }] },
    dns: { record_type: 'MX', expected_answers: ['10 mail.example.com'], recursion: false },
    group: { members: ['mon_a'], rule: 'percent', percent: 50 },
  }
  for (const [type, options] of Object.entries(set))
    expect(optionsFrom(schemasOf(type), filled(schemasOf(type), options))).toEqual(options)
})

test('almost every option has a specific kind of field', () => {
  const json = listMonitorTypes().data.flatMap(({ type }) =>
    Object.entries(schemasOf(type))
      .filter(([, schema]) => kindOf(schema) === 'json')
      .map(([name]) => `${type} ${name}`),
  )
  expect(json).toEqual(['tcp steps'])
})

test('an edit sends changed fields, and null for removed ones', () => {
  const before = { a: 1, auth: { type: 'basic', username: 'x' }, headers: { A: '1', B: '2' }, removed: [1] }
  const after = { a: 1, auth: { type: 'bearer', token: 't' }, headers: { A: '1', C: '3' } }
  expect(mergePatch(before, after)).toEqual({
    auth: { type: 'bearer', username: null, token: 't' },
    headers: { B: null, C: '3' },
    removed: null,
  })
  expect(mergePatch(before, before)).toBeUndefined()
})
