import { expect, test } from 'bun:test'
import { areas } from '../../src/core/permissions'
import { auditActions } from '../../src/features/audit-actions'
import { eventKinds } from '../../src/features/event-kinds'
import { metricCounters } from '../../src/features/metric-counters'
import { noticeKindNames } from '../../src/features/notice-kinds'
import { codeOf, sourceFiles } from './sources'

// Permission areas are part of the interface of core, so this file may name them.
const files = sourceFiles.filter(file => file.startsWith('src/core/') && file !== 'src/core/permissions.ts')

/** The first words of declared names, such as `monitor` of `monitor.alert`. */
const prefixes = new Set(
  [...auditActions.map(one => one.action), ...eventKinds.map(one => one.kind), ...noticeKindNames, ...areas].map(
    name => name.split('.')[0]!,
  ),
)

const declaredName = new RegExp(
  `['"\`](?:(?:${[...prefixes].join('|')})\\.[a-z_]+|${Object.keys(metricCounters).join('|')})\\b`,
  'g',
)

test('core doesn’t contain the names of events, audit actions, notices, permissions, or counters', () => {
  const wrong = files.flatMap(file => (codeOf(file).match(declaredName) ?? []).map(name => `${file}: ${name}`))
  expect(wrong.map(one => `${one}: declare it in the feature`)).toEqual([])
})

/** Words of the product that no infrastructure needs. */
const productWord = /\w*(?:monitor|heartbeat|incident|maintenance|uptime|latency|deployment|registrar)\w*/gi

test('core doesn’t contain words of features', () => {
  expect(files.flatMap(file => (codeOf(file).match(productWord) ?? []).map(word => `${file}: ${word}`))).toEqual([])
})

test('names are recognized', () => {
  expect(`change(ctx, 'monitor.create'`.match(declaredName)).toEqual([`'monitor.create`])
  expect(`import { x } from './notices'`.match(declaredName)).toBeNull()
})
