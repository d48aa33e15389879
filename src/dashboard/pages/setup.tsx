import { useNavigate } from '@tanstack/react-router'
import { Form, SecretField, TextField } from '../parts/form'
import { queryClient } from '../queries'
import { SignInFrame } from './sign-in/frame'

/** Creates the first user, with the setup link that the hub prints at startup. */
export default function Setup() {
  const navigate = useNavigate()
  const token = location.hash.slice(1)
  return (
    <SignInFrame title="Create the first user" description="This user owns the installation and its first workspace.">
      <Form
        plain
        initial={{ token, name: '', email: '', password: '' }}
        call={values => ({ method: 'POST', path: '/setup', body: values })}
        send={{
          onSuccess: () => {
            queryClient.clear()
            void navigate({ to: '/' })
          },
        }}
        submitLabel="Create user and sign in"
      >
        {token === '' && (
          <TextField name="token" label="Setup token" hint="Part of the setup link that the hub prints at startup." mono />
        )}
        <TextField name="name" label="Your name" autoComplete="name" autoFocus />
        <TextField name="email" label="Email" type="email" autoComplete="username" />
        <SecretField name="password" label="Password" autoComplete="new-password" hint="At least 10 characters." />
      </Form>
    </SignInFrame>
  )
}
