/** Signing in with a provider, and why it was refused. Loaded if there is a provider. */
import { route } from '../../browser/router.ts'
import { Button } from '../../parts/button.tsx'
import { Refused } from '../../parts/states.tsx'
import { toQuery } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import { t } from '../../texts/lookup.ts'

/** As the server names them. */
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

/** Why the provider's answer was rejected, if the address says so. */
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
