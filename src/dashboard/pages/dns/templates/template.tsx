import { useNavigate, useParams } from '@tanstack/react-router'
import { LayoutTemplate } from 'lucide-react'
import { useState } from 'react'
import type { TemplateView } from '../../../../features/dns/templates/shapes'
import { Button, LinkButton } from '../../../parts/button'
import { Confirm, Dialog } from '../../../parts/dialog'
import { Empty } from '../../../parts/empty'
import { Card, Loaded, Page } from '../../../parts/page'
import { Tag } from '../../../parts/status'
import { useOne, useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { ApplyForm } from './apply-form'
import { Bindings } from './bindings'
import { Rollout } from './rollout'
import { TemplateContent } from './template-content'
import { TemplateForm } from './template-form'
import { valuesOf } from './template-values'
import { Versions } from './versions'

const up = { to: '/dns/templates', label: 'Templates' }

/** One template: what it makes, where it was applied, and how it was before. */
export default function Template() {
  const { id } = useParams({ strict: false })
  const found = useOne<TemplateView>(`/dns/templates/${id}`)
  return (
    <Loaded found={found} up={up}>
      {template => <Shown template={template} />}
    </Loaded>
  )
}

function Shown({ template }: { template: TemplateView }) {
  const { mayWrite } = usePerson()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'apply' | 'rollout' | 'delete' | 'edit' | null>(null)
  const close = () => setOpen(null)
  const path = `/dns/templates/${template.id}`
  const save = useSend<TemplateView>({ quiet: true, done: 'Template saved', stale: ['/dns/templates'], onDone: close })
  const remove = useSend({
    done: 'Template deleted',
    stale: ['/dns/templates'],
    onDone: () => void navigate({ to: '/dns/templates' }),
  })
  return (
    <Page
      title={template.name}
      up={up}
      aside={<Tag>{template.builtin ? 'of the program' : `version ${template.version}`}</Tag>}
      lead={template.description}
      actions={
        mayWrite && (
          <>
            <Button kind="main" onClick={() => setOpen('apply')}>
              Apply to a zone
            </Button>
            <Button onClick={() => setOpen('rollout')}>Roll out</Button>
            {!template.builtin && <Button onClick={() => setOpen('edit')}>Edit</Button>}
            <LinkButton to="/dns/templates/new" search={{ from: template.id }}>
              Copy
            </LinkButton>
            {!template.builtin && (
              <Button kind="bad" onClick={() => setOpen('delete')}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      <div className="flex flex-col gap-4">
        {open === 'edit' ? (
          <Card title="Edit">
            <TemplateForm
              initial={valuesOf(template)}
              call={body => ({ method: 'PATCH', path, ifMatch: template.version, body })}
              send={save.mutateAsync}
              pending={save.isPending}
              onCancel={close}
              action="Save"
            />
          </Card>
        ) : (
          <TemplateContent template={template} />
        )}
        <Card title="Where it was applied">
          <Bindings
            path={`${path}/bindings`}
            by="zone"
            templates={[template]}
            empty={
              <Empty icon={LayoutTemplate} title="Nowhere yet">
                Zones that are linked to it are brought to its newest version when it is rolled out.
              </Empty>
            }
          />
        </Card>
        {!template.builtin && <Versions template={template} />}
      </div>
      <Dialog open={open === 'apply'} onClose={close} title={`Apply ${template.name}`} wide>
        <ApplyForm template={template} onEnd={close} />
      </Dialog>
      <Dialog
        open={open === 'rollout'}
        onClose={close}
        title={`Roll ${template.name} out`}
        description="Every zone that is linked to it is brought to its newest version, each by itself: one that fails stops no other."
      >
        <Rollout template={template} />
      </Dialog>
      <Confirm
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${template.name}?`}
        action="Delete template"
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path })}
      >
        Records that it made stay. A template that is linked to zones cannot be deleted: take it off them first.
      </Confirm>
    </Page>
  )
}
