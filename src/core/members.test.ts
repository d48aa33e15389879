import { expect, test } from 'bun:test'
import { Type, type Static } from '@sinclair/typebox'
import { getTableColumns } from 'drizzle-orm'
import { table } from './db/dialect'
import {
  inputColumns,
  inputMembers,
  memberColumns,
  members,
  memberView,
  patchColumns,
  patchMembers,
  viewMembers,
} from './members'
import { Line, Nullable, Shape, Words } from './shapes'

const of = members({
  name: { schema: Line({ minLength: 1, maxLength: 100 }), required: true },
  kind: { schema: Words(['once', 'daily']), required: true, fixed: true },
  max_hours: { schema: Type.Integer({ minimum: 1 }), default: 8, clearable: true },
  is_default: { schema: Type.Boolean(), default: false },
  note: { schema: Nullable(Type.String()) },
  tags: { schema: Type.Array(Type.String()), default: [] },
  ranges: { schema: Type.Array(Type.String()), input: Type.Array(Type.String(), { maxItems: 2 }), default: [] },
})

test('columns follow the schemas', () => {
  const columns = getTableColumns(table('examples', memberColumns(of)))
  expect(Object.entries(columns).map(([name, one]) => [name, one.name, one.dataType, one.notNull])).toEqual([
    ['name', 'name', 'string', true],
    ['kind', 'kind', 'string', true],
    ['maxHours', 'max_hours', 'number', true],
    ['isDefault', 'is_default', 'boolean', true],
    ['note', 'note', 'string', false],
    ['tags', 'tags', 'json', true],
    ['ranges', 'ranges', 'json', true],
  ])
})

test('required, optional, clearable and fixed members are so in requests', () => {
  const Input = Shape(inputMembers(of))
  const Patch = Shape(patchMembers(of))
  expect(Object.keys(Input.properties).filter(name => Input.required!.includes(name as never))).toEqual(['name', 'kind'])
  expect(Patch.required).toBeUndefined()
  expect(Object.keys(Patch.properties)).toEqual(['name', 'max_hours', 'is_default', 'note', 'tags', 'ranges'])
  for (const request of [Input, Patch]) expect(request.properties.ranges.maxItems).toBe(2)
  expect(viewMembers(of).ranges.maxItems).toBeUndefined()
  expect(Object.keys(Shape(viewMembers(of)).properties)).toEqual(Object.keys(of))
  const input: Static<typeof Input> = { name: 'a', kind: 'once' }
  const patch: Static<typeof Patch> = { max_hours: null, note: null }
  const row = inputColumns(of, input)
  expect(row).toEqual({ name: 'a', kind: 'once', maxHours: 8, isDefault: false, note: null, tags: [], ranges: [] })
  expect(memberView(of, { ...row, maxHours: 2 })).toEqual({
    name: 'a',
    kind: 'once',
    max_hours: 2,
    is_default: false,
    note: null,
    tags: [],
    ranges: [],
  })
  expect(patchColumns(of, patch)).toEqual({ maxHours: 8, note: null })
})
