/** The account's access tokens: one for each app or script, with a scope and an expiry. */
import { Copy, Plus } from 'lucide'
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copy-text.ts'
import { confirm } from '../../parts/dialog.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Form, unlessChanged, useForm } from '../../parts/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { AccessToken, Account, NewAccessToken } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { account, readAttention } from '../../stores/session.ts'
import { DAY_SECONDS, toMoment } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

/** Days until the token expires; `never`: it is valid until it is revoked. */
const LASTS = ['30', '90', '365', 'never'] as const
type Lasts = (typeof LASTS)[number]
type Scope = AccessToken['scope']

/** The scopes within the account's own rights. */
const scopesOf = (own: Account | undefined): Scope[] => [
  'read',
  'watch',
  ...(own?.may_download ? (['download'] as const) : []),
  ...(own?.is_staff ? (['admin'] as const) : []),
]

export function AccessTokens() {
  const tokens = useLoad<AccessToken[]>('settings/access-tokens', (signal) => get('/api/access-token/', {}, signal))
  const revoke = async ({ id, name }: AccessToken) => {
    const text = <p>{t('settings.tokens.revoke.text')}</p>
    const title = t('settings.tokens.revoke.title', { name })
    if (!(await confirm({ title, text, action: t('settings.tokens.revoke'), isDangerous: true }))) return
    await remove(`/api/access-token/${id}/`)
    await Promise.all([tokens.reload(), readAttention()])
    say(t('settings.tokens.revoked', { name }))
  }
  return (
    <Group title={t('settings.tokens')} hint={t('settings.tokens.hint')}>
      <Loaded from={tokens}>
        {(all) => (
          <ul class="settings-rows">
            {all.map((token) => (
              <li key={token.id}>
                <div class="row-words">
                  <strong>{token.name}</strong>
                  <p class="meta">{summaryOf(token)}</p>
                </div>
                <Button of={token.name} onClick={() => revoke(token)}>
                  {t('settings.tokens.revoke')}
                </Button>
              </li>
            ))}
          </ul>
        )}
      </Loaded>
      <NewToken onMade={() => void tokens.reload()} />
    </Group>
  )
}

function summaryOf({ scope, expires, last_used }: AccessToken): string {
  const when = expires === null ? undefined : toMoment(expires)
  const hasEnded = expires !== null && Date.parse(expires) <= Date.now()
  return [
    t(`settings.tokens.scope.${scope}`),
    when && t(hasEnded ? 'settings.tokens.ended' : 'settings.tokens.until', { when }),
    last_used ? t('settings.tokens.used', { when: toMoment(last_used) }) : t('settings.tokens.unused'),
  ]
    .filter(Boolean)
    .join(' · ')
}

function NewToken({ onMade }: { onMade: () => void }) {
  const [name, setName] = useState('')
  const [scope, setScope] = useState<Scope>('watch')
  const [lasts, setLasts] = useState<Lasts>('365')
  const [made, setMade] = useState<NewAccessToken>()
  const form = useForm({ name: { wrong: name.trim() === '' && t('form.required') } })
  const submit = async () => {
    const expires = lasts === 'never' ? null : new Date(Date.now() + Number(lasts) * DAY_SECONDS * 1000).toISOString()
    setMade(await post<NewAccessToken>('/api/access-token/', { name: name.trim(), scope, expires }))
    setName(unlessChanged(name, ''))
    onMade()
  }
  return (
    <Form form={form} class="option-form" onSubmit={submit}>
      {made && (
        <div role="status">
          <p>{t('settings.tokens.made', { name: made.name })}</p>
          <output class="code-block">{made.token}</output>
          <Button icon={Copy} onClick={() => copyText(made.token)}>
            {t('settings.copy')}
          </Button>
        </div>
      )}
      {form.refusal}
      <Field
        label={t('settings.tokens.name')}
        autocomplete="off"
        value={name}
        onInput={setName}
        isRequired
        error={form.errors.name}
        hint={t('settings.tokens.name.hint')}
      />
      <Select
        label={t('settings.tokens.scope')}
        value={scope}
        choices={scopesOf(account.value).map((value) => ({ value, label: t(`settings.tokens.scope.${value}`) }))}
        onChange={setScope}
      />
      <Select
        label={t('settings.tokens.lasts')}
        value={lasts}
        choices={LASTS.map((value) => ({ value, label: t(`settings.tokens.lasts.${value}`) }))}
        onChange={setLasts}
      />
      <div>
        <Button kind="main" type="submit" icon={Plus}>
          {t('settings.tokens.make')}
        </Button>
      </div>
    </Form>
  )
}
