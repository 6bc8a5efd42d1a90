/** The service that estimates dislikes: it wants to be named with a link wherever its numbers are used. */
import { t } from '../texts/lookup.ts'

export const DislikesLink = () => (
  <a class="link" href="https://returnyoutubedislike.com/" target="_blank" rel="noopener noreferrer">
    {t('dislikes.source')}
  </a>
)
