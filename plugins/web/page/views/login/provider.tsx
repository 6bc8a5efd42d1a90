/** The sign-in by a provider, and the reason for a refusal. Loaded if there is a provider. */
import { route } from '../../browser/router.ts'
import { Button } from '../../parts/button.tsx'
import { Refused } from '../../parts/states.tsx'
import { toQuery } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import { t } from '../../texts/lookup.ts'

/** Reasons, under the names that the server uses. */
const REASONS = [
  'expired',
  'failed',
  'busy',
  'away',
  'denied',
  'unknown',
  'group',
  'off',
  'name',
  'taken',
  'other',
] as const

/** The reason why the provider's answer was rejected, if the address contains one. */
export function WhyRefused({ name }: { name: string }) {
  const given = route.value.query.get('refused')
  const reason = REASONS.find((one) => one === given)
  return reason ? <Refused>{t(`login.refused.${reason}`, { name })}</Refused> : null
}

export function Provider({ name, isRemembered }: { name: string; isRemembered: boolean }) {
  const { path, query } = route.value
  const next = path === '/login/' ? '/' : `${path}${toQuery(Object.fromEntries(query))}`
  const go = () => location.assign(under(`/login/oidc/${toQuery({ next, remember_me: isRemembered })}`))
  return (
    <>
      <WhyRefused name={name} />
      <Button onClick={go}>{t('login.with', { name })}</Button>
    </>
  )
}
