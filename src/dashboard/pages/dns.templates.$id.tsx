import { useState } from 'react'
import type { TemplateView } from '../../features/dns/templates/shapes'
import { Button, LinkButton } from '../parts/button'
import { Dialog, DeleteDialog } from '../parts/dialog'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Tag } from '../parts/status'
import { useSend } from '../queries'
import { usePerson } from '../session'
import { ApplyForm } from './dns/templates/apply-form'
import { Bindings } from './dns/templates/bindings'
import { Rollout } from './dns/templates/rollout'
import { TemplateContent } from './dns/templates/template-content'
import { TemplateForm } from './dns/templates/template-form'
import { valuesOf } from './dns/templates/template-values'
import { Versions } from './dns/templates/versions'

/** Template page: content, bindings and versions. */
export default resourcePage<TemplateView>({ path: '/dns/templates', parent: '/dns/templates' }, template => (
  <TemplateDetails template={template} />
))

function TemplateDetails({ template }: { template: TemplateView }) {
  const { canWrite } = usePerson()
  const [open, setOpen] = useState<'apply' | 'rollout' | 'delete' | 'edit' | null>(null)
  const close = () => setOpen(null)
  const path = `/dns/templates/${template.id}`
  const save = useSend<TemplateView>({ quiet: true, toast: 'Template saved', invalidates: ['/dns/templates'], onSuccess: close })
  return (
    <Page
      title={template.name}
      parent="/dns/templates"
      aside={<Tag>{template.builtin ? 'built-in' : `version ${template.version}`}</Tag>}
      description={template.description}
      actions={
        canWrite && (
          <>
            <Button kind="primary" onClick={() => setOpen('apply')}>
              Apply to zone
            </Button>
            <Button onClick={() => setOpen('rollout')}>Roll out</Button>
            {!template.builtin && <Button onClick={() => setOpen('edit')}>Edit</Button>}
            <LinkButton to="/dns/templates/new" search={{ from: template.id }}>
              Duplicate
            </LinkButton>
            {!template.builtin && (
              <Button kind="danger" onClick={() => setOpen('delete')}>
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
              action="Save changes"
            />
          </Card>
        ) : (
          <TemplateContent template={template} />
        )}
        <Card title="Bindings">
          <Bindings
            path={`${path}/bindings`}
            by="zone"
            templates={[template]}
            empty={{ title: 'Not applied yet', text: 'Apply the template to a zone. Rolling it out updates all linked zones.' }}
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
        title={`Roll out ${template.name}`}
        description="Updates every linked zone to the latest version. Zones are updated independently; a failure doesn’t affect the others."
      >
        <Rollout template={template} />
      </Dialog>
      <DeleteDialog
        open={open === 'delete'}
        onClose={close}
        noun="template"
        name={template.name}
        path={path}
        invalidates={['/dns/templates']}
        parent="/dns/templates"
      >
        Records it created are kept in their zones. You can’t delete a template that is linked to zones: remove it from them
        first.
      </DeleteDialog>
    </Page>
  )
}
