/* Messages and exit codes for targets that never came to be: the answers NOT_STARTED and REFUSED. And NOTICE, which is a message alone. */
#ifndef HOLDFAST_CLIENT_REFUSAL_H
#define HOLDFAST_CLIENT_REFUSAL_H

#include "client_options.h"
#include "client_session.h"
#include "wire.h"

int say_not_started(const struct wire_agent_frame *answer, const struct session *session, const struct options *options);
int say_refused(const struct wire_agent_frame *answer, const struct session *session);
void say_notice(const struct wire_agent_frame *notice);

#endif
