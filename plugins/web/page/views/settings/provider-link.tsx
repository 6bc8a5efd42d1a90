/** The account's link to a provider: connected after a check of the password, and disconnected. */
import { Button } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { say } from '../../parts/toast.ts'
import { get, post, remove } from '../../server/api.ts'
import type { ProviderLink, ProviderName } from '../../server/records.ts'
import { useLoad } from '../../stores/load.ts'
import { t } from '../../texts/lookup.ts'
import { WhyRefused } from '../login/provider.tsx'
import { Group } from './option.tsx'
import { Factors } from './totp.tsx'

export function ProviderOfOwn() {
  const provider = useLoad<ProviderName>('settings/provider', (signal) => get('/api/oidc/', {}, signal))
  const name = provider.now.value.value?.name
  return name ? <Link name={name} /> : null
}

function Link({ name }: { name: string }) {
  const link = useLoad<ProviderLink>('settings/provider-link', (signal) => get('/api/oidc/link/', {}, signal))
  const connect = async (password: string) =>
    location.assign((await post<{ url: string }>('/api/oidc/link/', { current_password: password })).url)
  const disconnect = async () => {
    await remove('/api/oidc/link/')
    await link.reload()
    say(t('settings.provider.disconnected'))
  }
  return (
    <Group title={t('login.with', { name })} hint={t('settings.provider.hint', { name })}>
      <WhyRefused name={name} />
      <Loaded from={link}>
        {({ connected }) =>
          connected ? (
            <div class="option-form">
              <p>{t('settings.provider.on', { name })}</p>
              <div class="buttons">
                <Button onClick={() => disconnect()}>{t('settings.provider.disconnect')}</Button>
              </div>
            </div>
          ) : (
            <Factors asks={['password']} action={t('settings.provider.connect')} onGiven={connect} />
          )
        }
      </Loaded>
    </Group>
  )
}
