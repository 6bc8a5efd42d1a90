/** Watching, for all accounts. */
import { DislikesLink } from '../../parts/dislikes-link.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { t } from '../../texts/lookup.ts'
import { useConfig } from './config.ts'
import { Group } from './option.tsx'
import { Preference, Preferences } from './preference.tsx'

const DISLIKES = 'downloads.integrate_ryd'

export function PlaybackSection() {
  const config = useConfig()
  return (
    <Loaded from={config}>
      {() => (
        <Group title={t('settings.watching')} hint={t('settings.forAll')}>
          <Preferences config={config} group="watching" except={[DISLIKES]} />
          <Preference config={config} name={DISLIKES} more={<DislikesLink />} />
        </Group>
      )}
    </Loaded>
  )
}
