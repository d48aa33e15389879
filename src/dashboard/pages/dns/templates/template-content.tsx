import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { Card } from '../../../parts/page'
import { Tag, capitalize } from '../../../parts/status'
import { Table, staticList, type Column } from '../../../parts/table'
import { variableTypes, type TemplateRecord, type Variable } from './template-values'

const code = (text: string | number) => (
  <code className="font-mono text-[13px]" title={String(text)}>
    {text}
  </code>
)

const recordColumns: readonly Column<TemplateRecord>[] = [
  { title: 'Name', render: one => code(one.name) },
  { title: 'Type', width: '6rem', render: one => <Tag>{one.type}</Tag> },
  { title: 'TTL', width: '6rem', alignRight: true, showFrom: 'md', render: one => one.ttl ?? '–' },
  { title: 'Value', render: one => code(one.content ?? JSON.stringify(one.fields)) },
  { title: 'On conflict', width: '8rem', render: one => capitalize(one.on_conflict ?? 'fail') },
  { title: 'Condition', width: '8rem', showFrom: 'lg', render: one => (one.when ? code(one.when) : '–') },
]

const variableColumns: readonly Column<Variable>[] = [
  { title: 'Name', width: '12rem', render: one => code(one.name) },
  { title: 'Type', width: '9rem', render: one => <Tag>{variableTypes[one.type]}</Tag> },
  { title: 'Default', render: one => (one.default === undefined ? '–' : code(one.default)) },
  { title: 'Allowed values', showFrom: 'md', render: one => one.values?.join(', ') ?? one.pattern ?? '–' },
  { title: 'Description', render: one => one.description ?? '–' },
]

/** Records and variables of a template. */
export const TemplateContent = ({ template: { records, variables } }: { template: TemplateView }) => (
  <>
    <Card title="Records">
      <Table
        label="Records"
        columns={recordColumns}
        list={staticList(records)}
        idOf={one => String(records.indexOf(one))}
        empty={null}
      />
    </Card>
    {variables.length > 0 && (
      <Card title="Variables">
        <Table label="Variables" columns={variableColumns} list={staticList(variables)} idOf={one => one.name} empty={null} />
      </Card>
    )}
  </>
)
