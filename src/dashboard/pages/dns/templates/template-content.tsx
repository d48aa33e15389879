import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { Card } from '../../../parts/page'
import { Tag, wordsOf } from '../../../parts/status'
import { Table, wholeList, type Column } from '../../../parts/table'
import type { TemplateRecord, Variable } from './template-values'

const code = (text: string | number) => (
  <code className="font-mono text-[13px]" title={String(text)}>
    {text}
  </code>
)

const recordColumns: readonly Column<TemplateRecord>[] = [
  { name: 'name', title: 'Name', render: one => code(one.name) },
  { name: 'type', title: 'Type', width: '6rem', render: one => <Tag>{one.type}</Tag> },
  { name: 'ttl', title: 'TTL', width: '6rem', right: true, from: 'md', render: one => one.ttl ?? '–' },
  { name: 'content', title: 'Value', render: one => code(one.content ?? JSON.stringify(one.fields)) },
  { name: 'conflict', title: 'On conflict', width: '8rem', from: 'sm', render: one => wordsOf(one.on_conflict ?? 'fail') },
  { name: 'when', title: 'Only with', width: '8rem', from: 'lg', render: one => (one.when ? code(one.when) : '–') },
]

const variableColumns: readonly Column<Variable>[] = [
  { name: 'name', title: 'Name', width: '12rem', render: one => code(one.name) },
  { name: 'type', title: 'Type', width: '7rem', render: one => <Tag>{one.type}</Tag> },
  { name: 'default', title: 'Default', from: 'sm', render: one => (one.default === undefined ? '–' : code(one.default)) },
  { name: 'takes', title: 'Takes', from: 'md', render: one => one.values?.join(', ') ?? one.pattern ?? '–' },
  { name: 'for', title: 'What for', from: 'sm', render: one => one.description ?? '–' },
]

/** What a template makes, and what of it differs from zone to zone. */
export const TemplateContent = ({ template: { records, variables } }: { template: TemplateView }) => (
  <>
    <Card title="Records">
      <Table
        label="Records"
        columns={recordColumns}
        list={wholeList(records)}
        idOf={one => String(records.indexOf(one))}
        empty={null}
      />
    </Card>
    {variables.length > 0 && (
      <Card title="Variables">
        <Table label="Variables" columns={variableColumns} list={wholeList(variables)} idOf={one => one.name} empty={null} />
      </Card>
    )}
  </>
)
