/** How much of a subscription is looked at, and subscriptions that come from another app. */

import { Loaded } from '../../parts/loaded.tsx'
import { under } from '../../server/base.ts'
import { t } from '../../texts/lookup.ts'
import { useConfig } from './config.ts'
import { Exports } from './exports.tsx'
import { Group } from './option.tsx'
import { Preferences } from './preference.tsx'

export function SubscriptionsSection() {
  const config = useConfig()
  return (
    <Loaded from={config}>
      {() => (
        <>
          <Group title={t('settings.scan')} hint={t('settings.scan.hint')}>
            <Preferences config={config} group="scan" />
          </Group>
          <Group title={t('settings.found')}>
            <Preferences config={config} group="found" />
          </Group>
          <Exports />
          <p class="hint">
            {t('settings.scan.when')}{' '}
            <a href={under('/settings/schedules/')} class="link">
              {t('settings.schedules')}
            </a>
          </p>
        </>
      )}
    </Loaded>
  )
}
