import { useState } from 'react'
import type { TemplateView } from '../../features/dns/templates/shapes'
import { Button, LinkButton } from '../parts/button'
import { closeDialog, confirmDelete, openDialog } from '../parts/open-dialog'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Tag } from '../parts/status'
import { usePerson } from '../session'
import { ApplyForm } from './dns/templates/apply-form'
import { Bindings } from './dns/templates/bindings'
import { Rollout } from './dns/templates/rollout'
import { TemplateContent } from './dns/templates/template-content'
import { TemplateForm } from './dns/templates/template-form'
import { valuesOf } from './dns/templates/template-values'
import { Versions } from './dns/templates/versions'

/** Template page: content, bindings and versions. */
export default resourcePage({ path: '/dns/templates', parent: '/dns/templates' }, TemplateDetails)

function TemplateDetails({ resource: template }: { resource: TemplateView }) {
  const { canWrite } = usePerson()
  const [isEditing, setEditing] = useState(false)
  const path = `/dns/templates/${template.id}`
  const invalidates = ['/dns/templates']
  const apply = () =>
    openDialog({
      title: `Apply ${template.name}`,
      wide: true,
      content: <ApplyForm template={template} onEnd={closeDialog} />,
    })
  const rollOut = () =>
    openDialog({
      title: `Roll out ${template.name}`,
      description: 'Updates every linked zone to the latest version. If one zone fails, the others are still updated.',
      content: <Rollout template={template} />,
    })
  const remove = () =>
    confirmDelete({
      noun: 'template',
      name: template.name,
      path,
      invalidates,
      next: '/dns/templates',
      text: 'Records that it added are kept in their zones. You can’t delete a template while zones are linked to it: remove it from them first. This can’t be undone.',
    })
  return (
    <Page
      title={template.name}
      parent="/dns/templates"
      aside={<Tag>{template.builtin ? 'built-in' : `version ${template.version}`}</Tag>}
      description={template.description}
      actions={
        canWrite && (
          <>
            <Button kind="primary" onClick={apply}>
              Apply to zone
            </Button>
            <Button onClick={rollOut}>Roll out to zones</Button>
            {!template.builtin && <Button onClick={() => setEditing(true)}>Edit</Button>}
            <LinkButton to="/dns/templates/new" search={{ from: template.id }}>
              Duplicate
            </LinkButton>
            {!template.builtin && (
              <Button kind="danger" onClick={remove}>
                Delete
              </Button>
            )}
          </>
        )
      }
    >
      <div className="flex flex-col gap-4">
        {isEditing ? (
          <Card title="Edit template">
            <TemplateForm
              initial={valuesOf(template)}
              call={body => ({ method: 'PATCH', path, ifMatch: template.version, body })}
              send={{ toast: 'Template saved', invalidates, onSuccess: () => setEditing(false) }}
              onCancel={() => setEditing(false)}
              action="Save changes"
            />
          </Card>
        ) : (
          <TemplateContent template={template} />
        )}
        <Card title="Zones">
          <Bindings
            path={`${path}/bindings`}
            by="zone"
            templates={[template]}
            empty={{ title: 'Not applied yet', text: 'Zones that you apply the template to are listed here.' }}
          />
        </Card>
        {!template.builtin && <Versions template={template} />}
      </div>
    </Page>
  )
}
