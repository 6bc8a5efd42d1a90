/** Playback settings for all accounts. */
import { DislikesLink } from '../../parts/dislikes-link.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'
import { Preference, PreferenceGroup } from './preference-options.tsx'
import { usePreferences } from './preferences.ts'

const DISLIKES = 'downloads.integrate_ryd'

export function PlaybackSection() {
  const preferences = usePreferences()
  return (
    <Loaded from={preferences}>
      {() => (
        <Group title={t('settings.watching')} hint={t('settings.forAll')}>
          <PreferenceGroup preferences={preferences} group="watching" except={[DISLIKES]} />
          <Preference preferences={preferences} name={DISLIKES} more={<DislikesLink />} />
        </Group>
      )}
    </Loaded>
  )
}
