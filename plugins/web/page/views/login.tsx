/** Signing in: name and password, and what was wrong beside them. Whoever comes from an address goes on there. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { navigate, place } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Mark } from '../parts/icon.tsx'
import { type Failure, get, toFailure } from '../server/api.ts'
import type { Page, Video } from '../server/records.ts'
import { isAdmin, isUnused, signIn } from '../stores/session.ts'
import { t } from '../texts/texts.ts'

/** The first start: nothing was ever put into it, or its first choices are open. */
const isNew = async (): Promise<boolean> =>
  (isAdmin.peek() && !(await get<{ page: { welcomed: boolean } }>('/api/config/')).page.welcomed) ||
  (await get<Page<Video>>('/api/video/')).paginate.total_hits === 0

export function Login() {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const [isRemembered, setRemembered] = useState(true)
  const [isBusy, setBusy] = useState(false)
  const [isTried, setTried] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const form = useRef<HTMLFormElement>(null)
  useTitle(t('login.title'))
  useEffect(() => form.current!.querySelector('input')!.focus(), [])

  const submit = async (event: Event) => {
    event.preventDefault()
    setTried(true)
    if (name === '' || password === '') return
    setBusy(true)
    try {
      await signIn(name, password, isRemembered)
      const { path } = place.value
      if ((path === '/' || path === '/login/') && (await isNew())) navigate('/welcome/', { isReplacing: true })
      else if (path === '/login/') navigate('/', { isReplacing: true })
    } catch (error) {
      setFailure(toFailure(error))
    }
    setBusy(false)
  }

  return (
    <main class="login">
      <form ref={form} onSubmit={submit} noValidate>
        <div class="brand">
          <Mark size={40} />
          <h1>{t('app.name')}</h1>
        </div>
        {failure && (
          <p class="notice error" role="alert">
            {failure.message}
          </p>
        )}
        <Field
          label={t('login.name')}
          name="username"
          autocomplete="username"
          value={name}
          onInput={setName}
          isRequired
          error={isTried && name === '' ? t('form.required') : undefined}
        />
        <Field
          label={t('login.password')}
          name="password"
          type="password"
          autocomplete="current-password"
          value={password}
          onInput={setPassword}
          isRequired
          error={isTried && password === '' ? t('form.required') : undefined}
        />
        <label class="check">
          <input
            type="checkbox"
            name="remember_me"
            checked={isRemembered}
            onChange={(event) => setRemembered(event.currentTarget.checked)}
          />
          {t('login.remember')}
        </label>
        <Button kind="main" type="submit" isBusy={isBusy}>
          {t('login.submit')}
        </Button>
        {isUnused.value && <p class="hint">{t('login.first')}</p>}
      </form>
    </main>
  )
}
