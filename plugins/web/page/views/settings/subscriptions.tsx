/** Settings for scans of subscriptions, and the import of subscriptions from other apps. */

import { Loaded } from '../../parts/loaded.tsx'
import { under } from '../../server/base.ts'
import { t } from '../../texts/lookup.ts'
import { Exports } from './exports.tsx'
import { Group } from './option.tsx'
import { PreferenceGroup } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'

export function SubscriptionsSection() {
  const preferences = usePreferences()
  return (
    <Loaded from={preferences}>
      {() => (
        <>
          <Group title={t('settings.scan')} hint={t('settings.scan.hint')}>
            <PreferenceGroup preferences={preferences} group="scan" />
          </Group>
          <Group title={t('settings.found')}>
            <PreferenceGroup preferences={preferences} group="found" />
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
