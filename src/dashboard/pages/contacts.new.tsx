import { CreatePage } from '../parts/edit-page'
import { Loaded } from '../parts/page'
import { ContactFields, contactBody, contactValues, useContactOptions } from './contacts/contact-fields'
import { contactPaths } from './contacts/contact-text'

/** Creates a contact. */
export default function NewContact() {
  return (
    <Loaded query={useContactOptions()} parent="/contacts">
      {options => (
        <CreatePage
          parent="/contacts"
          page="/contacts/$id"
          path="/contacts"
          invalidates={contactPaths}
          initial={contactValues(options, null)}
          bodyOf={values => contactBody(options, values)}
        >
          <ContactFields options={options} />
        </CreatePage>
      )}
    </Loaded>
  )
}
