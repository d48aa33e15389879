import { CreatePage } from '../parts/edit-page'
import { showToken, type SourceWithToken } from './dynamic-ips/show-token'
import { sourceBody, SourceFields, sourceValues } from './dynamic-ips/source-fields'

/** Creates a source, shows its token once, and opens its page. */
export default function NewDynamicIp() {
  return (
    <CreatePage<SourceWithToken>
      parent="/dynamic-ips"
      page="/dynamic-ips/$id"
      path="/dynamic-ips"
      invalidates={['/dynamic-ips', '/overview']}
      description="Enter the hosts whose DNS records follow the address of your router. You then get a token for the router."
      initial={sourceValues(null)}
      bodyOf={values => sourceBody(values, null)}
      onCreated={showToken}
    >
      <SourceFields />
    </CreatePage>
  )
}
