import type { ContactView } from '../../features/contacts/shapes'
import { EditPage } from '../parts/edit-page'
import { mergePatch } from '../parts/option-values'
import { Loaded } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { ContactFields, contactBody, contactValues, useContactOptions } from './contacts/contact-fields'
import { contactPaths } from './contacts/contact-text'

/** Edits a contact. Only changed fields are sent. */
export default resourcePage<ContactView>({ path: '/contacts', parent: '/contacts' }, EditContact)

function EditContact({ resource: contact }: { resource: ContactView }) {
  return (
    <Loaded query={useContactOptions()} parent="/contacts">
      {options => (
        <EditPage
          resource={{ ...contact, name: contact.label }}
          to={`/contacts/${contact.id}`}
          path={`/contacts/${contact.id}`}
          invalidates={contactPaths}
          defaults={contactValues(options, null)}
          valuesOf={opened => contactValues(options, opened)}
          bodyOf={(values, before) => mergePatch(contactBody(options, before), contactBody(options, values)) ?? {}}
        >
          {() => <ContactFields options={options} />}
        </EditPage>
      )}
    </Loaded>
  )
}
