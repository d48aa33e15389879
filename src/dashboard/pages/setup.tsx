import { useLocation, useNavigate } from '@tanstack/react-router'
import { Form, TextField } from '../parts/form'
import { queryClient, useOne } from '../queries'
import { NewUserFields, SignInFrame, SignInMessage } from './sign-in/frame'

/** Creates the first user, with the setup link that the hub prints at startup. */
export default function Setup() {
  const navigate = useNavigate()
  // Also changes when a link is pasted into a tab that is already open here.
  const token = useLocation({ select: one => one.hash })
  const status = useOne<{ open: boolean }>('/setup')
  if (status.isPending) return null
  if (status.data && !status.data.open)
    return (
      <SignInMessage
        title="Setup is complete"
        description="The first user of this installation already exists."
        link="Sign in"
        to="/login"
      />
    )
  return (
    <SignInFrame
      title="Create the first user"
      description="This user becomes the operator of this installation, and the owner of its first workspace."
    >
      <Form
        plain
        initial={{ token: '', name: '', email: '', password: '' }}
        call={values => ({ method: 'POST', path: '/setup', body: { ...values, token: token || values.token } })}
        send={{
          onSuccess: () => {
            queryClient.clear()
            void navigate({ to: '/' })
          },
        }}
        submitLabel="Create user and sign in"
      >
        {token === '' && (
          <TextField
            name="token"
            label="Setup token"
            hint="The part after # in the setup link, which Bailiwick prints when it starts."
            mono
          />
        )}
        <NewUserFields />
      </Form>
    </SignInFrame>
  )
}
