export const reasons = {
  hwid_required: 'the app sent no HWID',
  link_domain_not_bound: 'the domain is not bound',
  link_disabled: 'the link is disabled',
  link_limit_reached: 'the link is full',
};
